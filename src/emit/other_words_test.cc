#include "emit/other_words.h"

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/scratch_folder_testing.h"
#include "describe/model/load_model.h"
#include "emit/dialects.h"
#include "emit/files.h"
#include "emit/not_known.h"

namespace sextant::emit {
namespace {

Reading reading_of_file(std::string_view text, std::string_view name) {
  const auto settings = parse(text, name);
  EXPECT_TRUE(settings) << (settings ? "" : to_text(settings.error()));
  return settings ? read(*settings, describe::DataStore{}) : Reading{};
}

std::string said_value(const Reading& reading, std::string_view field) {
  for (const Fact& fact : reading.facts) {
    if (fact.field == field) {
      return fact.value;
    }
  }
  return "";
}

TEST(OtherWords, PerformanceScriptsSayWhatTheyAreTold) {
  const Reading reading = reading_of_file(
      "torchrun --nproc-per-node 8 --nnodes 4 python3 scripts/performance/run_script.py --gpu h100 "
      "--model_family_name llama --model_recipe_name llama3_70b --num_gpus 32 --gpus_per_node 8 "
      "--compute_dtype bf16 -tp 4 --pipeline_model_parallel_size 4 -vp 5 -cp 1 -mb 1 -gb 64 "
      "--seq_length 8192 --recompute_modules core_attn\n",
      "t.sh");
  EXPECT_EQ(reading.dialect, Dialect::kBridge);
  EXPECT_EQ(said_value(reading, "tp"), "4");
  EXPECT_EQ(said_value(reading, "pp"), "4");
  EXPECT_EQ(said_value(reading, "vpp"), "5");
  EXPECT_EQ(said_value(reading, "mbs"), "1");
  EXPECT_EQ(said_value(reading, "gbs"), "64");
  EXPECT_EQ(said_value(reading, "seq"), "8192");
  EXPECT_EQ(said_value(reading, "precision"), "bf16");
  EXPECT_EQ(said_value(reading, "devices"), "32");
  EXPECT_EQ(said_value(reading, "recompute").substr(0, 9), "selective");
  // What the recipe of the installed version sets beside that is not known.
  EXPECT_TRUE(reading.not_known.contains("sp"));
  const Reading plain = reading_of_file(
      "python3 setup_experiment.py -m llama -mr llama3_8b -ng 8 -g b200 -vp None -pp 2\n", "t.sh");
  EXPECT_EQ(said_value(plain, "vpp"), "1");
  EXPECT_TRUE(plain.not_known.contains("tp"));
}

TEST(OtherWords, NemosRecipesAreReadNotRun) {
  const Reading reading = reading_of_file(
      "import nemo_run as run\n"
      "from nemo.collections import llm\n"
      "def recipe():\n"
      "  pretrain = llm.llama3_8b.pretrain_recipe()\n"
      "  tp_size = 2\n"
      "  pretrain = set_primary_perf_configs(pretrain, 'pre_train', num_nodes=4,\n"
      "      num_gpus_per_node=8, mbs=1, gbs=128, tp_size=tp_size, pp_size=4, cp_size=2,\n"
      "      vp_size=None, ep_size=1, compute_dtype='bf16')\n"
      "  pretrain.model.config.seq_length = 4096\n"
      "  if flag:\n"
      "    pretrain.data.global_batch_size = 7\n"
      "  return pretrain\n",
      "r.py");
  EXPECT_EQ(reading.program, kNemo);
  EXPECT_EQ(said_value(reading, "tp"), "2");
  EXPECT_EQ(said_value(reading, "pp"), "4");
  EXPECT_EQ(said_value(reading, "cp"), "2");
  EXPECT_EQ(said_value(reading, "dp"), "2");
  EXPECT_EQ(said_value(reading, "seq"), "4096");
  EXPECT_EQ(said_value(reading, "precision"), "bf16");
  EXPECT_TRUE(reading.not_known.contains("vpp"));  // the recipe's own
  EXPECT_TRUE(reading.not_known.contains("gbs"));  // set in a block that may not run
}

TEST(OtherWords, NeoxHasMegatronsMeaningsUnderItsOwnNames) {
  const Reading reading = reading_of_file(
      "{\n  \"pipe-parallel-size\": 4,\n  \"model_parallel_size\": 2,\n  \"num_layers\": 44,\n"
      "  \"hidden_size\": 6144,\n  \"num_attention_heads\": 64,\n  \"seq_length\": 2048,\n"
      "  \"max_position_embeddings\": 2048,\n  \"train_micro_batch_size_per_gpu\": 4,\n"
      "  \"zero_optimization\": {\"stage\": 1},\n  \"fp16\": {\"enabled\": true},\n"
      "  \"checkpoint_activations\": true,\n}\n",
      "a.yml");
  EXPECT_EQ(reading.program, kNeox);
  EXPECT_EQ(reading.framework, describe::Framework::kMegatronDeepspeed);
  EXPECT_EQ(said_value(reading, "tp"), "2");
  EXPECT_EQ(said_value(reading, "pp"), "4");
  EXPECT_EQ(said_value(reading, "zero"), "1");
  EXPECT_EQ(said_value(reading, "mbs"), "4");
  EXPECT_EQ(said_value(reading, "layers"), "44");
  EXPECT_EQ(said_value(reading, "precision"), "fp16");
  EXPECT_EQ(said_value(reading, "recompute"), "full");
}

TEST(OtherWords, FoundryFollowsItsReferences) {
  const Reading reading = reading_of_file(
      "variables:\n  length: 2048\nmax_seq_len: ${variables.length}\nmax_duration: 10ba\n"
      "model:\n  d_model: 4096\n  n_heads: 32\n  n_layers: 30\n  expansion_ratio: 4\n"
      "  vocab_size: 50368\ntrain_loader:\n  dataset:\n    split: train\n"
      "global_train_batch_size: 512\ndevice_train_microbatch_size: auto\nprecision: amp_bf16\n"
      "fsdp_config:\n  sharding_strategy: FULL_SHARD\n  activation_checkpointing: false\n",
      "a.yaml");
  EXPECT_EQ(reading.program, kFoundry);
  EXPECT_EQ(said_value(reading, "zero"), "3");
  EXPECT_EQ(said_value(reading, "seq"), "2048");
  EXPECT_EQ(said_value(reading, "gbs"), "512");
  EXPECT_EQ(said_value(reading, "ffn"), "16384");
  EXPECT_EQ(said_value(reading, "recompute"), "none");
  EXPECT_EQ(said_value(reading, "precision"), "bf16");
  EXPECT_TRUE(reading.not_known.contains("mbs"));  // auto
}

TEST(OtherWords, ATrainersConfigurationSaysItsFlags) {
  const Reading reading = reading_of_file(
      "model_name_or_path: org/unknown-model\nper_device_train_batch_size: 2\n"
      "gradient_accumulation_steps: 8\nmax_length: 1024\nbf16: true\n"
      "gradient_checkpointing: true\noutput_dir: o\n",
      "c.yaml");
  EXPECT_EQ(said_value(reading, "mbs"), "2");
  EXPECT_EQ(said_value(reading, "seq"), "1024");
  EXPECT_EQ(said_value(reading, "precision"), "bf16");
  EXPECT_EQ(said_value(reading, "recompute"), "full");
  EXPECT_FALSE(reading.model.has_value());
}

std::string trainer_of(std::string_view name) {
  return fmt::format("model_name_or_path: {}\nper_device_train_batch_size: 2\noutput_dir: o\n",
                     name);
}

std::string foundry_of(std::string_view name) {
  return fmt::format(
      "max_seq_len: 2048\nmax_duration: 10ba\nmodel:\n  pretrained_model_name_or_path: {}\n"
      "train_loader:\n  dataset:\n    split: train\nglobal_train_batch_size: 512\n"
      "fsdp_config:\n  sharding_strategy: FULL_SHARD\n",
      name);
}

TEST(OtherWords, ModelsAreNamesOfTheCatalogue) {
  for (const auto& file : {trainer_of("meta-llama/Llama-3.1-8B"), foundry_of("org/llama-3.1-8b")}) {
    EXPECT_EQ(said_value(reading_of_file(file, "c.yaml"), "model"), "Llama-3.1-8B") << file;
  }
}

// Standard input and a file of that name beside the program hold a model that could be read.
TEST(OtherWords, NoFileThatAJobNamesIsReadAsItsModel) {
  const ScratchFolder scratch;
  const std::string config = scratch.write(
      "config.json",
      R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 256,
          "num_attention_heads": 4, "num_key_value_heads": 4, "intermediate_size": 128})");
  ASSERT_TRUE(describe::load_model(config, describe::DataStore{}));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path());
  for (const std::string_view name : {"'-'", "org/-", "config.json", "org/config.json"}) {
    for (const std::string& file : {trainer_of(name), foundry_of(name)}) {
      ASSERT_NE(std::freopen(config.c_str(), "r", stdin), nullptr);
      const Reading reading = reading_of_file(file, "c.yaml");
      EXPECT_FALSE(reading.model.has_value()) << file;
      EXPECT_EQ(said_value(reading, "model"), "") << file;
    }
  }
  std::filesystem::current_path(before);
}

TEST(OtherWords, ExpertsOfAModelElsewhereAreSpread) {
  const Reading reading = reading_of_file(
      "torchrun --nproc_per_node 8 train.py --expert-model-parallel-size 4 "
      "--moe-token-dispatcher-type flex --micro-batch-size 1 --bf16 ${MODEL_ARGS[@]}\n",
      "t.sh");
  EXPECT_EQ(said_value(reading, "ep"), "4");
}

TEST(OtherWords, ConfigOverridesGiveTheShape) {
  const Reading reading = reading_of_file(
      "deepspeed --num_gpus 8 run_clm.py --model_type gpt2 --config_overrides "
      "\"n_embd=8192,n_layer=64,n_head=32,gradient_checkpointing=true\" "
      "--per_device_train_batch_size 2 --fp16\n",
      "t.sh");
  EXPECT_EQ(said_value(reading, "hidden"), "8192");
  EXPECT_EQ(said_value(reading, "layers"), "64");
  EXPECT_EQ(said_value(reading, "heads"), "32");
  EXPECT_EQ(said_value(reading, "recompute"), "full");
}

}  // namespace
}  // namespace sextant::emit
