#include "emit/who_runs.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "emit/dialects.h"
#include "emit/files.h"

namespace sextant::emit {
namespace {

// The dialect's word, "not known", or the error.
std::string who(std::string_view text, std::string_view name) {
  const auto settings = parse(text, name);
  if (!settings) {
    return settings.error().what;
  }
  return settings->framework_known
             ? std::string(describe::word_of<Dialect>(kDialectWords, settings->dialect))
             : "not known";
}

struct WhoCase {
  std::string_view text;
  std::string_view name;
  std::string_view who;  // part of it
};

TEST(WhoRuns, NobodyIsMegatronBecauseNothingElseMatched) {
  const std::vector<WhoCase> cases{
      {"torchrun --nproc_per_node 8 train.py --lr 1e-4 --layers 4\n", "t.sh", "not known"},
      {"torchrun --nproc_per_node=8 train.py --model_name_or_path llama --bf16 "
       "True "
       "--per_device_train_batch_size 4 --fsdp \"full_shard auto_wrap\"\n",
       "t.sh", "not known"},
      {"torchrun train.py ${ARGS[@]}\n", "t.sh", "not known"},
      {"python prepare_data.py --out-dir data\n", "t.sh", "not known"},
      {"torchrun train.py --num-layers 4 --hidden-size 64 "
       "--num-attention-heads 4\n",
       "t.sh", "megatron"},
      {"torchrun pretrain_mamba.py\n", "t.sh", "megatron"},
      {"torchrun train.py --tensor-model-parallel-size 2\n", "t.sh", "megatron"},
      {"torchrun train.py --num-layers 2 --hidden-size 8 --micro-batch-size 1 "
       "--gradient-accumulation-steps 2\n",
       "t.sh", "not known"},
      {"deepspeed pretrain_llama.py --num-layers 2\n", "t.sh", "not known"},
      {"deepspeed pretrain_gpt.py --num-layers 2 --deepspeed\n", "t.sh", "megatron"},
      {"deepspeed train.py --model_name_or_path llama "
       "--per_device_train_batch_size 4\n",
       "t.sh", "deepspeed"},
      {"[project]\nname = \"x\"\nversion = \"1\"\n", "pyproject.toml", "no framework's settings"},
      {"[parallelism]\ntensor_parallel_degree = 2\n", "t.toml", "torchtitan"}};
  for (const WhoCase& one : cases) {
    EXPECT_NE(who(one.text, one.name).find(one.who), std::string::npos)
        << one.text << who(one.text, one.name);
  }
}

TEST(WhoRuns, OthersAreRefusedByName) {
  const std::vector<WhoCase> cases{
      {"NPROC=8 megatron sft --load m --tensor_model_parallel_size 2\n", "t.sh", "ms-swift"},
      {"swift sft --model m\n", "t.sh", "ms-swift"},
      {"llamafactory-cli train a.yaml\n", "t.sh", "LLaMA-Factory"},
      {"accelerate launch -m axolotl.cli.train a.yml\n", "t.sh", "Axolotl"},
      {"tune run --nproc_per_node 4 full_finetune_distributed --config a\n", "t.sh", "torchtune"},
      {"xpk workload create --cluster c --command \"python3 x.py\"\n", "t.sh", "xpk"},
      {"python ./deepy.py train.py a\n", "t.sh", "GPT-NeoX"},
      {"model_name_or_path: m\nstage: sft\nfinetuning_type: full\ndeepspeed: "
       "z.json\n",
       "a.yaml", "LLaMA-Factory"},
      {"apiVersion: batch/v1\nkind: Job\nspec:\n  a: 1\n", "a.yaml", "Kubernetes"},
      {"import nemo_run as run\ndef recipe():\n  return 1\n", "a.py", "NeMo"}};
  for (const WhoCase& one : cases) {
    EXPECT_NE(who(one.text, one.name).find(one.who), std::string::npos)
        << one.text << ": " << who(one.text, one.name);
  }
}

TEST(WhoRuns, OfAnUnknownProgramOnlyTheDevicesAreRead) {
  const auto settings =
      parse("torchrun --nnodes 2 --nproc_per_node 8 train.py --tp 4 --lr 1e-4\n", "t.sh");
  ASSERT_TRUE(settings);
  const Reading reading = read(*settings, describe::DataStore{});
  EXPECT_FALSE(reading.framework_known);
  EXPECT_EQ(reading.devices, 16);
  EXPECT_TRUE(reading.not_known.contains("tp"));
  EXPECT_TRUE(reading.unknown.empty());
}

}  // namespace
}  // namespace sextant::emit
