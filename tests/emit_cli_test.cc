// `sextant emit` as a user meets it: files of every framework that check reads back, and patches.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;

TEST(EmitCli, WrittenFilesReadBackAsTheSameLayout) {
  for (const char* to : {"megatron", "bridge", "torchtitan", "torchtitan-toml", "deepspeed",
                         "maxtext", "accelerate", "nanotron"}) {
    const Folder folder;
    const bool sharded = std::string(to) == "deepspeed" || std::string(to) == "accelerate";
    const std::string layout = sharded ? "zero=3,mbs=1" : "tp=2,mbs=1";
    const Ran ran =
        run_sextant({"emit", "llama-3.1-8b", "--on", "16xh100-sxm", "--layout", layout, "--seq",
                     "4096", "--gbs", "64", "--to", to, "--out", folder.path().string(), "--json"});
    ASSERT_EQ(ran.exit_code, 0) << to << ran.err << ran.out;
    const json answer = json::parse(ran.out);
    std::vector<std::string> words{"check"};
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      words.push_back(entry.path().string());
    }
    ASSERT_GT(words.size(), 1U) << to;
    for (const char* more : {"--model", "llama-3.1-8b", "--on", "h100-sxm", "--seq", "4096",
                             "--gbs", "64", "--json"}) {
      words.emplace_back(more);
    }
    if (sharded) {  // the training program says these, not the file
      words.insert(words.end(), {"--layout", "mbs=1,precision=bf16,recompute=none"});
    }
    const Ran checked = run_sextant(words);
    ASSERT_EQ(checked.exit_code, 0) << to << checked.err << checked.out;
    const json read = json::parse(checked.out);
    EXPECT_TRUE(read["legal"].get<bool>()) << to << checked.out;
    const std::string said = read["layout"];
    EXPECT_NE(said.find(sharded ? "zero=3" : "tp=2"), std::string::npos) << to << said;
  }
}

// nanotron's file names FlashAttention, Megatron's leaves the kernel to Transformer Engine. Both
// have words for all of this layout.
TEST(EmitCli, TheStepInTheCommentsIsTheOneThatCheckPredicts) {
  for (const char* to : {"megatron", "nanotron"}) {
    const Folder folder;
    const Ran ran = run_sextant({"emit", "llama-3.1-8b", "--on", "16xh100-sxm", "--layout",
                                 "tp=2,mbs=1,overlap=grad_reduce", "--seq", "4096", "--gbs", "64",
                                 "--to", to, "--out", folder.path().string()});
    ASSERT_EQ(ran.exit_code, 0) << to << ran.err << ran.out;
    std::vector<std::string> words{"check"};
    std::string text;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      words.push_back(entry.path().string());
      text += content(entry.path());
    }
    for (const char* more : {"--model", "llama-3.1-8b", "--on", "h100-sxm"}) {
      words.emplace_back(more);
    }
    const std::string_view start = "predicted step ";
    const std::size_t from = text.find(start);
    ASSERT_NE(from, std::string::npos) << text;
    const std::size_t first = from + start.size();
    const std::string step = text.substr(first, text.find(';', first) - first);
    const Ran checked = run_sextant(words);
    EXPECT_NE(checked.out.find("  step " + step + "\n"), std::string::npos)
        << to << step << checked.out;
  }
}

TEST(EmitCli, WhatAFrameworkCannotSayIsSaid) {
  const Ran ran = run_sextant({"emit", "llama-3.1-8b", "--on", "16xh100-sxm", "--layout",
                               "optimizer=adafactor", "--gbs", "64", "--to", "megatron"});
  EXPECT_NE(ran.err.find("optimizer=adafactor is not written"), std::string::npos)
      << ran.err << ran.out;
}

TEST(EmitCli, APatchChangesTheLiteralAndNothingElse) {
  const Folder folder;
  const std::string script =
      folder.write("train.sh",
                   "#!/bin/bash\n"
                   "TP=8   # inside the node\n"
                   "PP=2\n"
                   "torchrun --nnodes 4 --nproc-per-node 8 pretrain_gpt.py \\\n"
                   "  --tensor-model-parallel-size $TP \\\n"
                   "  --pipeline-model-parallel-size ${PP} --sequence-parallel \\\n"
                   "  --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 \\\n"
                   "  --num-attention-heads 32 --swiglu --vocab-size 32000 \\\n"
                   "  --seq-length 4096 --micro-batch-size 1 --global-batch-size 64 "
                   "--bf16\n");
  const Ran ran = run_sextant({"emit", "--diff", script, "--layout", "tp=4"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err << ran.out;
  EXPECT_NE(ran.out.find("-TP=8   # inside the node\n+TP=4   # inside the node\n"),
            std::string::npos)
      << ran.out;
  EXPECT_EQ(ran.out.find("-PP=2"), std::string::npos) << ran.out;
  EXPECT_NE(content(script).find("TP=8"), std::string::npos);  // the file itself is left alone
}

// The degree comes out of the scheduler's own count: changing that literal would halve the machine.
TEST(EmitCli, APatchNeverChangesTheDevices) {
  const Folder folder;
  const std::string script =
      folder.write("train.sh",
                   "#!/bin/bash\n#SBATCH --nodes=8\n#SBATCH --gpus-per-node=4\n"
                   "srun torchrun --nnodes $SLURM_NNODES --nproc_per_node $SLURM_GPUS_PER_NODE "
                   "pretrain_gpt.py --tensor-model-parallel-size $SLURM_GPUS_PER_NODE "
                   "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --swiglu "
                   "--vocab-size 32000 --seq-length 4096 --max-position-embeddings 4096 "
                   "--micro-batch-size 1 --global-batch-size 64 --bf16\n");
  const Ran ran = run_sextant({"emit", "--diff", script, "--layout", "tp=2"});
  EXPECT_EQ(ran.out.find("gpus-per-node=2"), std::string::npos) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("--tensor-model-parallel-size by hand to 2"), std::string::npos)
      << ran.out << ran.err;
}

// Nothing in the file states the batch: it is what the shards take together.
TEST(EmitCli, APatchKeepsTheGlobalBatch) {
  const Folder folder;
  const std::string file = folder.write("train.toml",
                                        "[model]\nname = \"llama3\"\nflavor = \"70B\"\n"
                                        "[training]\nlocal_batch_size = 1\nseq_len = 8192\n"
                                        "[parallelism]\ndata_parallel_shard_degree = 16\n"
                                        "tensor_parallel_degree = 1\n"
                                        "context_parallel_degree = 1\n"
                                        "[activation_checkpoint]\nmode = \"full\"\n");
  const Ran ran =
      run_sextant({"emit", "--diff", file, "--layout", "cp=8", "--on", "16xb200-sxm", "--json"});
  const json answer = json::parse(ran.out);
  const std::string diff = answer["diff"];
  const bool kept = diff.find("+global_batch_size = 16") != std::string::npos;
  EXPECT_TRUE(kept || !answer["not_offered"].empty()) << ran.out << ran.err;
  EXPECT_TRUE(kept || diff.empty()) << ran.out;
}

// A legal job of 32 devices whose batch no pipeline of four divides, but for a setting that says
// how.
std::string grouped_script(const Folder& folder, const std::string& more) {
  return folder.write("train.sh",
                      "#!/bin/bash\n"
                      "export CUDA_DEVICE_MAX_CONNECTIONS=1\n"
                      "torchrun --nnodes 4 --nproc-per-node 8 pretrain_gpt.py \\\n"
                      "  --tensor-model-parallel-size 4 --sequence-parallel \\\n"
                      "  --pipeline-model-parallel-size 4 \\\n"
                      "  --num-layers-per-virtual-pipeline-stage 4 \\\n"
                      "  --microbatch-group-size-per-virtual-pipeline-stage 5 \\\n"
                      "  --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 \\\n"
                      "  --num-attention-heads 32 --swiglu --vocab-size 32000 \\\n"
                      "  --seq-length 4096 --micro-batch-size 1 --global-batch-size 20 " +
                          more + "\n");
}

TEST(EmitCli, APatchIsLegalWhereCheckSaysSo) {
  const Folder folder;
  const std::string script = grouped_script(folder, "--bf16");
  const Ran check = run_sextant({"check", script, "--on", "h100-sxm"});
  EXPECT_EQ(check.exit_code, 0) << check.err << check.out;
  const Ran patch =
      run_sextant({"emit", "--diff", script, "--on", "h100-sxm", "--layout", "recompute=full"});
  EXPECT_EQ(patch.exit_code, 0) << patch.err << patch.out;
  EXPECT_NE(patch.out.find("+"), std::string::npos) << patch.out;
}

TEST(EmitCli, AKeyOfAPatchCountsAsStated) {
  const Folder folder;
  const std::string script = grouped_script(folder, "--fp16");
  const Ran ran = run_sextant(
      {"emit", "--diff", script, "--on", "v100-sxm-32g", "--layout", "attention=flash"});
  EXPECT_EQ(ran.exit_code, 1) << ran.err << ran.out;
  EXPECT_NE(ran.out.find("ATTENTION-DEVICE"), std::string::npos) << ran.out;
}

TEST(EmitCli, AnIllegalJobIsNotWritten) {
  const Ran ran = run_sextant(
      {"emit", "llama-3.1-8b", "--on", "16xh100-sxm", "--layout", "tp=16", "--to", "torchtitan"});
  EXPECT_EQ(ran.exit_code, 1) << ran.out;
  EXPECT_NE(ran.out.find("KV"), std::string::npos) << ran.out;
}

TEST(EmitCli, UnknownWordsNameTheKnownOnes) {
  const Ran ran = run_sextant({"emit", "llama-3.1-8b", "--on", "8xh100-sxm", "--to", "megatrn"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("megatron"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace sextant::tests
