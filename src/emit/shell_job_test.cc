#include "emit/shell_job.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/places_testing.h"
#include "base/text.h"

namespace sextant::emit {
namespace {

using TextByKey = std::map<std::string, std::string>;

TextByKey text_by_key(const std::vector<Setting>& settings) {
  TextByKey map;
  for (const Setting& setting : settings) {
    map[setting.key] = join(setting.values, " ");
  }
  return map;
}

std::string script_text(const std::string& name) {
  const auto text = read_text(source_folder() / "tests/data/launch" / name, 4_MiB);
  EXPECT_TRUE(text) << name;
  return text.value_or("");
}

struct ScriptCase {
  std::string name;
  Dialect dialect;
  TextByKey given;   // some of what must be there
  TextByKey launch;  // all of it
  std::vector<std::string> unresolved;
};

std::vector<ScriptCase> script_cases() {
  return {
      {"megatron_gpt3_175b.sh",
       Dialect::kMegatron,
       {{"num_layers", "96"},
        {"tensor_model_parallel_size", "8"},
        {"fp16", "true"},
        {"pipeline_model_parallel_size", "16"},
        {"global_batch_size", "1536"}},
       {{"nodes", "16"}, {"devices_per_node", "8"}, {"devices", "128"}},
       {"--data-path $5", "--vocab-file $3", "--merge-file $4", "--save $1", "--load $1",
        "--tensorboard-dir $2"}},
      {"megatron_llama3_8b_fp8.sh",
       Dialect::kMegatron,
       {{"context_parallel_size", "2"},
        {"seq_length", "8192"},
        {"fp8_recipe", "delayed"},
        {"global_batch_size", "128"},
        {"vocab_size", "128256"},
        {"fp8_param_gather", "true"}},
       {{"nodes", "1"}, {"devices_per_node", "8"}, {"devices", "8"}},
       {}},
      {"megatron_llama3_70b_slurm.sh",
       Dialect::kMegatron,
       {{"num_virtual_stages_per_pipeline_rank", "5"},
        {"global_batch_size", "128"},
        {"overlap_param_gather", "true"},
        {"mock_data", "true"}},
       {{"nodes", "8"}, {"devices_per_node", "8"}, {"devices", "64"}},
       {"MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)"}},
      // 256 GPUs / 16 stages = dp 16; 16 · 1 · 64 microbatches = 1024.
      {"megatron_deepseek_v3.sh",
       Dialect::kMegatron,
       {{"moe_layer_freq", "([0]*3+[1]*58)"},
        {"global_batch_size", "1024"},
        {"pipeline_model_parallel_layout", "Et*3|(tt|)*29,m|L"},
        {"recompute_modules", "moe_act mla_up_proj"},
        {"expert_model_parallel_size", "8"}},
       {{"nodes", "32"}, {"devices_per_node", "8"}, {"devices", "256"}},
       {}},
      {"megatron_mixtral_8x7b.sh",
       Dialect::kMegatron,
       {{"num_experts", "8"}, {"sequence_parallel", "true"}, {"log_interval", "1"}},
       {{"nodes", "2"}, {"devices_per_node", "8"}, {"devices", "16"}},
       {"--tokenizer-model $2", "--data-path $3", "--save $1"}},
      {"megatron_slurm_torchrun.sh",
       Dialect::kMegatron,
       {{"tensor_model_parallel_size", "2"}, {"micro_batch_size", "2"}},
       {{"nodes", "4"}, {"devices_per_node", "8"}, {"devices", "32"}, {"device", "h100"}},
       {}},
      {"torchtitan_run_train.sh",
       Dialect::kTorchtitan,
       {{"module", "llama3"},
        {"config", "llama3_8b"},
        {"compile.enable", "true"},
        {"parallelism.data_parallel_shard_degree", "-1"}},
       {{"nodes", "1"}, {"devices_per_node", "8"}, {"devices", "8"}},
       {}},
      {"torchtitan_toml.sh",
       Dialect::kTorchtitanToml,
       {{"training.local_batch_size", "4"}, {"parallelism.pipeline_parallel_degree", "4"}},
       {{"nodes", "4"},
        {"devices_per_node", "8"},
        {"devices", "32"},
        {"config_file", "./torchtitan/models/llama3/train_configs/llama3_70b.toml"}},
       {"$@"}},
      {"deepspeed_zero3.sh",
       Dialect::kDeepspeed,
       {{"program.per_device_train_batch_size", "2"}, {"program.gradient_checkpointing", "true"}},
       {{"nodes", "2"},
        {"devices_per_node", "8"},
        {"devices", "16"},
        {"config_file", "ds_config_zero3.json"}},
       {}},
      {"accelerate_fsdp2.sh",
       Dialect::kAccelerate,
       {{"fsdp_config.fsdp_version", "2"},
        {"mixed_precision", "bf16"},
        {"program.max_length", "8192"},
        {"parallelism_config.parallelism_config_tp_size", "2"},
        {"num_processes", "16"}},
       {{"nodes", "2"},
        {"devices_per_node", "8"},
        {"devices", "16"},
        {"config_file", "fsdp2.yaml"}},
       {}},
      {"maxtext_llama2_70b.sh",
       Dialect::kMaxtext,
       {{"model_name", "llama2-70b"},
        {"ici_fsdp_parallelism", "64"},
        {"dcn_data_parallelism", "2"},
        {"attention", "flash"}},
       {{"config_file", "src/maxtext/configs/base.yml"}},
       {}},
      {"nanotron_smollm.sh",
       Dialect::kNanotron,
       {},
       {{"nodes", "4"},
        {"devices_per_node", "8"},
        {"devices", "32"},
        {"config_file", "examples/config_smollm.yaml"}},
       {}},
      {"bridge_llama31_70b.sh",
       Dialect::kBridge,
       {{"recipe", "llama31_70b_pretrain_64gpu_h100_bf16_config"},
        {"model.tensor_model_parallel_size", "4"},
        {"ddp.overlap_grad_reduce", "true"},
        {"model.recompute_modules", "core_attn layernorm"}},
       {{"nodes", "8"}, {"devices_per_node", "8"}, {"devices", "64"}},
       {}},
  };
}

TEST(ParseShell, RealisticScriptsAreReadWhole) {
  for (const ScriptCase& one : script_cases()) {
    const auto settings = parse_shell(script_text(one.name), one.name);
    ASSERT_TRUE(settings) << one.name << ": " << to_text(settings.error());
    EXPECT_EQ(settings->dialect, one.dialect) << one.name;
    const TextByKey given = text_by_key(settings->given);
    for (const auto& [key, value] : one.given) {
      EXPECT_EQ(given.contains(key) ? given.at(key) : "(none)", value) << one.name << ": " << key;
    }
    EXPECT_EQ(text_by_key(settings->launch), one.launch) << one.name;
    std::vector<std::string> unresolved;
    for (const Unresolved& open : settings->unresolved) {
      unresolved.push_back(open.what);
      EXPECT_GT(open.place.line, 0) << one.name << ": " << open.what;
    }
    EXPECT_EQ(unresolved, one.unresolved) << one.name;
  }
}

TEST(ParseShell, EveryPlaceHoldsItsValue) {
  for (const ScriptCase& one : script_cases()) {
    const std::string text = script_text(one.name);
    const auto settings = parse_shell(text, one.name);
    ASSERT_TRUE(settings) << one.name;
    for (const Setting& setting : settings->given) {
      const std::string literal = text.substr(setting.place.offset, setting.place.length);
      const bool is_switch = literal.starts_with("--");
      if (!literal.empty() && !is_switch && !literal.starts_with('[')) {
        EXPECT_EQ(literal, join(setting.values, " ")) << one.name << ": " << setting.key;
      }
    }
  }
}

TEST(ParseShell, EnvironmentIsWhatTheScriptExports) {
  const auto settings =
      parse_shell("export A=1\nB=2\nexport B\nC=3\nD=4 torchrun pretrain_gpt.py --bf16\n", "t.sh");
  ASSERT_TRUE(settings);
  EXPECT_EQ(text_by_key(settings->environment), (TextByKey{{"A", "1"}, {"B", "2"}, {"D", "4"}}));
}

TEST(ParseShell, SlurmSaysDevicesInManyWords) {
  for (const std::string_view header :
       {"#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\n", "#SBATCH -N 4\n#SBATCH --gres=gpu:8\n",
        "#SBATCH -N4\n#SBATCH --gres=gpu:h100:8\n", "#SBATCH --nodes 4 --ntasks-per-node 8\n",
        "#SBATCH -N 4\n#SBATCH --gpus-per-node=a100:8\n"}) {
    auto settings = parse_shell(
        "#!/bin/bash\n" + std::string(header) + "srun python pretrain_gpt.py --bf16\n", "t.sh");
    ASSERT_TRUE(settings) << header;
    std::erase_if(settings->launch, [](const Setting& one) { return one.key == "device"; });
    EXPECT_EQ(text_by_key(settings->launch),
              (TextByKey{{"nodes", "4"}, {"devices_per_node", "8"}, {"devices", "32"}}))
        << header;
  }
  const auto mpi = parse_shell("mpirun -np 16 python pretrain_gpt.py --bf16\n", "t.sh");
  ASSERT_TRUE(mpi);
  EXPECT_EQ(text_by_key(mpi->launch), (TextByKey{{"devices", "16"}}));
}

TEST(ParseShell, UnknownNumbersAreListedNotGuessed) {
  const auto settings = parse_shell(
      "torchrun --nnodes $N --nproc_per_node gpu pretrain_gpt.py --global-batch-size $GBS --bf16 "
      "$EXTRA_ARGS --tp=$((X)) --lr 1\n",
      "t.sh");
  ASSERT_TRUE(settings);
  EXPECT_EQ(text_by_key(settings->given), (TextByKey{{"bf16", "true"}, {"lr", "1"}}));
  EXPECT_TRUE(settings->launch.empty());
  ASSERT_EQ(settings->unresolved.size(), 5U);
  EXPECT_EQ(settings->unresolved[0].what, "--nnodes $N");
  EXPECT_EQ(settings->unresolved[1].what, "--nproc_per_node gpu");
  EXPECT_EQ(settings->unresolved[2].what, "--global-batch-size $GBS");
  EXPECT_EQ(settings->unresolved[2].why, "GBS is set nowhere in the script");
  EXPECT_EQ(settings->unresolved[3].what, "$EXTRA_ARGS");
}

TEST(ParseShell, TheTrainingIsFoundAmongOtherCommands) {
  const auto settings = parse_shell(
      "pip install x\npython tools/preprocess_data.py --input a\necho torchrun pretrain_gpt.py\n"
      "nohup nsys profile -o x torchrun --nproc_per_node=2 pretrain_mamba.py --num-layers 4 &\n",
      "t.sh");
  ASSERT_TRUE(settings);
  EXPECT_EQ(text_by_key(settings->given), (TextByKey{{"num_layers", "4"}}));
  EXPECT_TRUE(settings->unresolved.empty());
}

TEST(ParseShell, SeveralTrainingsAreSaid) {
  const auto settings = parse_shell(
      "torchrun pretrain_gpt.py --num-layers 4\ntorchrun pretrain_gpt.py --num-layers 8\n", "t.sh");
  ASSERT_TRUE(settings);
  EXPECT_EQ(text_by_key(settings->given), (TextByKey{{"num_layers", "4"}}));
  ASSERT_EQ(settings->unresolved.size(), 1U);
}

TEST(ParseShell, WithoutATrainingItIsAnError) {
  for (const std::string_view text : {"", "echo hello\n", "A=1\n", "ls | grep x\n"}) {
    const auto settings = parse_shell(text, "t.sh");
    ASSERT_FALSE(settings) << text;
    EXPECT_EQ(settings.error().where, "t.sh");
  }
}

}  // namespace
}  // namespace sextant::emit
