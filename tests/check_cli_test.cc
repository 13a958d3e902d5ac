// `sextant check` as a user meets it: the job in their own files, rules, CI's formats, logs.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/places_testing.h"
#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;

std::string given(const std::string& name) {
  return source_folder().string() + "/tests/data/" + name;
}

// A file in a folder of its own.
class Scratch {
 public:
  Scratch(const std::string& name, const std::string& text) : path_(folder_.write(name, text)) {}
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Folder folder_;
  std::string path_;
};

// A legal job of 64 devices; `more` are further flags.
std::string megatron_script(const std::string& more) {
  return "#!/bin/bash\n"
         "#SBATCH --nodes=8\n"
         "#SBATCH --gpus-per-node=8\n"
         "export CUDA_DEVICE_MAX_CONNECTIONS=1\n"
         "TP=8\n"
         "torchrun --nnodes 8 --nproc-per-node 8 pretrain_gpt.py \\\n"
         "  --tensor-model-parallel-size $TP --pipeline-model-parallel-size 4 \\\n"
         "  --sequence-parallel --use-distributed-optimizer --bf16 \\\n"
         "  --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 \\\n"
         "  --num-attention-heads 64 --group-query-attention --num-query-groups 8 \\\n"
         "  --swiglu --normalization RMSNorm --disable-bias-linear \\\n"
         "  --position-embedding-type rope --untie-embeddings-and-output-weights \\\n"
         "  --tokenizer-type NullTokenizer --vocab-size 128255 \\\n"
         "  --seq-length 8192 --max-position-embeddings 131072 \\\n"
         "  --micro-batch-size 1 --global-batch-size 128 " +
         more + "\n";
}

TEST(CheckCli, TheJobIsReadWithTheLinesThatSayIt) {
  const Scratch script("train.sh", megatron_script(""));
  const Ran ran = run_sextant({"check", script.path(), "--on", "h100-sxm"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err << ran.out;
  for (const char* said :
       {"job (megatron)", "Llama-3.1-70B (80 layers, hidden 8192) on 64xh100-sxm", "tp",
        "train.sh:5", "legal", "predicted", "fits: pipeline rank"}) {
    EXPECT_NE(ran.out.find(said), std::string::npos) << said << "\n" << ran.out;
  }
}

TEST(CheckCli, AClusterThatIsNamedStandsOverTheScriptsDefaultOfNodes) {
  const Scratch script("train.sh",
                       "NNODES=${NNODES:-2}\n"
                       "torchrun --nnodes $NNODES --nproc_per_node 8 pretrain_gpt.py "
                       "--tensor-model-parallel-size 8 --num-layers 32 --hidden-size 4096 "
                       "--num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096 "
                       "--micro-batch-size 1 --global-batch-size 64 --vocab-size 32000 --bf16\n");
  const Ran ran = run_sextant({"check", "--json", script.path(), "--on", "64xh100-sxm"});
  const json answer = json::parse(ran.out);
  EXPECT_TRUE(answer["legal"].get<bool>()) << ran.out;
  EXPECT_NE(answer["layout"].get<std::string>().find("dp=8"), std::string::npos) << ran.out;
}

TEST(CheckCli, TheSchedulersDeviceIsTheJobs) {
  const Scratch script("train.sbatch",
                       "#!/bin/bash\n#SBATCH --nodes=2\n"
                       "#SBATCH --gres=gpu:a100:8\n"
                       "srun python pretrain_gpt.py --num-layers 32 "
                       "--hidden-size 4096 --num-attention-heads 32 "
                       "--seq-length 4096 --max-position-embeddings 4096 "
                       "--micro-batch-size 1 --global-batch-size 64 "
                       "--vocab-size 32000 --bf16\n");
  const Ran ran = run_sextant({"check", script.path()});
  EXPECT_NE(ran.out.find("16xa100-sxm-80g"), std::string::npos) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("the files say a100 only"), std::string::npos) << ran.out;
}

TEST(CheckCli, WhatTheFrameworkRefusesIsOneAndNamesTheRule) {
  const Scratch script("train.sh",
                       megatron_script("--num-experts 6 --expert-model-parallel-size 4"));
  const Ran ran = run_sextant({"check", script.path(), "--on", "h100-sxm", "--json"});
  EXPECT_EQ(ran.exit_code, 1) << ran.out;
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["schema"], "sextant.check/3");
  EXPECT_FALSE(answer["legal"].get<bool>());
  EXPECT_FALSE(answer["violations"].empty());
  EXPECT_TRUE(answer["predicted"].is_null());
}

TEST(CheckCli, AnnotationsPointAtTheLine) {
  std::string text = megatron_script("");
  text.replace(text.find("TP=8"), 4, "TP=3");
  const Scratch script("train.sh", text);
  const Ran github = run_sextant({"check", script.path(), "-o", "github"});
  EXPECT_EQ(github.exit_code, 1);
  EXPECT_NE(github.out.find("::error file=" + script.path() + ",line=5,title=HEADS-TP::"),
            std::string::npos)
      << github.out;
  const Ran sarif = run_sextant({"check", script.path(), "-o", "sarif"});
  const json log = json::parse(sarif.out);
  EXPECT_EQ(log["version"], "2.1.0");
  bool found = false;
  for (const json& result : log["runs"][0]["results"]) {
    const json& place = result["locations"][0]["physicalLocation"];
    found = found || (result["ruleId"] == "HEADS-TP" && result["level"] == "error" &&
                      place["region"]["startLine"] == 5);
  }
  EXPECT_TRUE(found) << sarif.out;
}

TEST(CheckCli, FormatsForFindingsAreCheckOnly) {
  const Ran ran = run_sextant({"model", "llama-3.1-8b", "-o", "sarif"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("form for findings"), std::string::npos) << ran.err;
}

TEST(CheckCli, WhatIsNotStatedIsSaidAndNothingIsPredicted) {
  const Scratch script("train.sh",
                       "torchrun --nproc-per-node 8 pretrain_gpt.py "
                       "--tensor-model-parallel-size 2 --global-batch-size $GBS --bf16\n");
  const Ran ran = run_sextant({"check", script.path(), "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_TRUE(answer["legal"].is_null());
  EXPECT_FALSE(answer["not_stated"].empty());
  EXPECT_NE(answer["unresolved"].dump().find("GBS"), std::string::npos) << answer.dump(1);
}

TEST(CheckCli, AMisspeltSettingIsToldTheNearest) {
  const Scratch script("train.sh", megatron_script("--expert-modle-parallel-size 1"));
  const Ran ran = run_sextant({"check", script.path(), "--on", "h100-sxm"});
  EXPECT_NE(ran.out.find("'expert_modle_parallel_size' is no setting of this framework; did you "
                         "mean expert_model_parallel_size"),
            std::string::npos)
      << ran.out;
  const json answer =
      json::parse(run_sextant({"check", script.path(), "--on", "h100-sxm", "--json"}).out);
  ASSERT_EQ(answer["unknown"].size(), 1U);
  EXPECT_EQ(answer["unknown"][0]["nearest"][0], "expert_model_parallel_size");
}

// Hopper runs cuDNN's kernel where the choice is Transformer Engine's, FlashAttention where the
// script asks for it.
TEST(CheckCli, AnAttentionKernelThatIsStatedIsTheOnePredicted) {
  const auto checked = [](const std::string& flags) {
    const Scratch script("train.sh", megatron_script(flags));
    const Ran ran = run_sextant({"check", script.path(), "--on", "h100-sxm", "--json"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err << ran.out;
    return json::parse(ran.out);
  };
  const auto step = [](const json& answer) {
    return answer["predicted"]["step_time_s"].get<double>();
  };
  const auto guesses = [](const json& answer) {
    return answer["assumed"].dump().find("\"value\":\"cudnn\"") != std::string::npos;
  };
  const json open = checked("");
  const json any = checked("--attention-backend auto");
  const json fused = checked("--attention-backend fused");
  const json flash = checked("--attention-backend flash");
  EXPECT_EQ(step(open), step(fused));
  EXPECT_EQ(step(any), step(fused));
  EXPECT_GT(step(flash), step(fused));
  EXPECT_TRUE(guesses(open));
  EXPECT_TRUE(guesses(any));
  EXPECT_FALSE(guesses(fused));
  EXPECT_FALSE(guesses(flash));
}

TEST(CheckCli, ALogIsMeasuredAndBecomesARow) {
  const Ran ran = run_sextant({"check", given("logs/torchtitan.log"), "--on", "h100-sxm"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err << ran.out;
  EXPECT_NE(ran.out.find("median of 8 steps"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("the prediction"), std::string::npos) << ran.out;
  const Ran row =
      run_sextant({"check", given("logs/torchtitan.log"), "--on", "h100-sxm", "--to-row"});
  ASSERT_EQ(row.exit_code, 0) << row.err;
  const Scratch table("runs.csv", row.out);
  const Ran validated = run_sextant({"validate", table.path(), "--json"});
  ASSERT_EQ(validated.exit_code, 0) << validated.err;
  const json answer = json::parse(validated.out);
  ASSERT_FALSE(answer["rows"].empty());
  EXPECT_EQ(answer["rows"][0]["status"], "predicted") << answer["rows"].dump(1);
}

// The log has rates alone; the script beside it says how many tokens a step has, and who speaks.
TEST(CheckCli, RatesAreStepsWhereTheFilesSayTheTokens) {
  const Scratch script("train.sh", megatron_script(""));
  std::string lines;
  for (int step = 1; step <= 10; ++step) {
    lines +=
        "iteration " + std::to_string(step) +
        "/ 10 | tokens per gpu per second (tgs): 1024.0 | elapsed time per iteration (ms): 0 |\n";
  }
  const Scratch log("train.log", lines);
  const Ran ran = run_sextant({"check", log.path(), script.path(), "--on", "h100-sxm", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err << ran.out;
  const json answer = json::parse(ran.out);
  // 128 sequences of 8192 tokens on 64 devices.
  EXPECT_DOUBLE_EQ(answer["measured"]["step_time_s"].get<double>(), 128.0 * 8192.0 / 64.0 / 1024.0);
}

TEST(CheckCli, TheWorkloadThatNoFileSaysIsSaidBesideIt) {
  const Scratch script("train.sh", megatron_script(""));
  const auto step = [&](const char* workload) {
    const Ran ran =
        run_sextant({"check", script.path(), "--on", "h100-sxm", "--workload", workload, "--json"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return json::parse(ran.out)["predicted"]["step_time_s"].get<double>();
  };
  EXPECT_LT(step("lora:16"), step("pretrain"));  // no gradients of frozen weights
  EXPECT_EQ(run_sextant({"check", script.path(), "--workload", "lore"}).exit_code, 2);
}

TEST(CheckCli, ARunIsComparedWithARow) {
  const Ran row =
      run_sextant({"check", given("logs/torchtitan.log"), "--on", "h100-sxm", "--to-row"});
  const Scratch table("runs.csv", row.out);
  const Ran ran = run_sextant({"compare", given("logs/torchtitan.log"), "torchtitan", "--rows",
                               table.path(), "--on", "h100-sxm", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["schema"], "sextant.compare-runs/2");
  // The same run: its terms add up to its step, and are no longer than themselves.
  EXPECT_NEAR(answer["slowdown"].get<double>(), 1.0, 0.01);
  double sum = 0.0;
  for (const json& term : answer["terms"]) {
    sum += term["ours_s"].get<double>();
  }
  EXPECT_NEAR(sum, answer["ours"]["measured_s"].get<double>(), 1e-9);
}

TEST(CheckCli, HostileFilesEndInOneLine) {
  for (const std::string& text :
       {std::string("torchrun pretrain_gpt.py --num-layers \"80\n"),
        std::string("A=$A$A\nA=$A$A\ntorchrun pretrain_gpt.py --num-layers $(rm -rf /) $A\n"),
        std::string("torchrun ") + std::string(5'000'000, 'x'), std::string(1000, '{'),
        std::string()}) {
    const Scratch script("train.sh", text);
    const Ran ran = run_sextant({"check", script.path()});
    EXPECT_TRUE(ran.exit_code == 0 || ran.exit_code == 2) << ran.exit_code << ran.err;
    EXPECT_EQ(ran.exit_code == 2, !ran.err.empty()) << ran.err;
  }
  for (const char* name : {"deep.json", "deep.yaml", "deep.toml", "deep.py"}) {
    const Scratch file(name, std::string(100'000, '['));
    EXPECT_EQ(run_sextant({"check", file.path()}).exit_code, 2) << name;
  }
}

}  // namespace
}  // namespace sextant::tests
