// `sextant diagnose` on real profiles whose answers are known (../shared/traces; README there).
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/places_testing.h"
#include "base/scratch_folder_testing.h"
#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;

class DiagnoseTruth : public testing::Test {
 protected:
  // Nothing where the profiles are not there.
  static json diagnosed(const std::string& trace, const std::vector<std::string>& more = {}) {
    const std::filesystem::path path = source_folder() / ".." / "shared" / "traces" / trace;
    if (!std::filesystem::exists(path)) {
      return nullptr;
    }
    std::vector<std::string> words{"diagnose", path.string(), "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = run_sextant(words);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.exit_code == 0 ? json::parse(ran.out) : json::object();
  }
};

double part(const json& answer, const char* key) {
  return answer["breakdown"][key].get<double>() / answer["step_time_s"].get<double>();
}

// The step that the models predict for what was run, beside what the profile shows: two profiles of
// one model, with fused attention and without.
TEST_F(DiagnoseTruth, ThePredictedStepLiesBesideTheMeasuredOne) {
  const ScratchFolder folder;
  const std::filesystem::path config = folder.path() / "llama-350m.json";
  std::ofstream(config) << R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
    "hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 24,
    "num_attention_heads": 16, "num_key_value_heads": 16, "vocab_size": 32000,
    "max_position_embeddings": 16384, "rms_norm_eps": 1e-6, "hidden_act": "silu",
    "tie_word_embeddings": false, "torch_dtype": "bfloat16"})";
  const std::vector<std::string> job{"--model",     config.string(), "--on",     "1xh200-sxm",
                                     "--framework", "accelerate",    "--layout", "mbs=4",
                                     "--seq",       "2048",          "--gbs",    "4"};
  const json fused = diagnosed("h200/llama-350m_s2048_b4_bf16_none_sdpa.json.gz", job);
  if (fused.is_null()) {
    GTEST_SKIP() << "no ../shared/traces/h200";
  }
  double covered = 0.0;
  for (const json& one : fused["prediction"]["classes"]) {
    const double measured = one["measured_s"].get<double>();
    if (one["what"].get<std::string>().starts_with("products: ") || one["what"] == "attention") {
      covered += measured;
      EXPECT_NEAR(one["ratio"].get<double>(), 1.0, 0.3) << one;
    }
  }
  // Products and attention; the rest of the 76 ms that the device computes streams.
  EXPECT_GT(covered, 0.03);
  const json eager = diagnosed("h200/llama-350m_s2048_b4_bf16_none_eager.json.gz", job);
  bool is_explained = false;
  for (const json& finding : eager["findings"]) {
    is_explained |= finding["rule"] == "slower-than-predicted" &&
                    finding["cause"].get<std::string>().starts_with("attention: ") &&
                    finding["explained_by"] == "eager-attention";
  }
  EXPECT_TRUE(is_explained) << eager["findings"];
  EXPECT_EQ(eager["bottleneck"]["class"], "hbm");
}

// 37.4/1.2/10.8/3.2/0.5/1.3/34.4/1.8 % of the time between a rank's first and last kernel, which is
// what HTA counts; ours are of the marked step.
TEST_F(DiagnoseTruth, RanksZeroAndSixOfMegatronIdle) {
  const json hta = diagnosed("megatron-tp8", {"--hta-compatible"});
  if (hta.is_null()) {
    GTEST_SKIP() << "no ../shared/traces/megatron-tp8";
  }
  const std::vector<double> idle{37.38, 1.19, 10.79, 3.20, 0.50, 1.30, 34.40, 1.80};
  ASSERT_EQ(hta["temporal_breakdown"].size(), 8U);
  for (std::size_t rank = 0; rank < idle.size(); ++rank) {
    EXPECT_NEAR(hta["temporal_breakdown"][rank]["idle_time_pctg"].get<double>(), idle[rank], 0.06);
  }
  const json answer = diagnosed("megatron-tp8");
  EXPECT_EQ(answer["job_ranks"], 8);
  for (const json& rank : answer["per_rank"]) {
    const int number = rank["rank"].get<int>();
    EXPECT_EQ(part(rank, "idle_s") > 0.3, number == 0 || number == 6) << number;
  }
}

// Eight ranks of an A100 node: what their all-reduces transfer in, beside what NVLink's model
// expects; what ranks 0 and 6 keep the others waiting is not the fabric's.
TEST_F(DiagnoseTruth, CollectivesOfMegatronReachWhatTheirFabricShould) {
  const json answer = diagnosed("megatron-tp8", {"--on", "8xa100-sxm-80g"});
  if (answer.is_null()) {
    GTEST_SKIP() << "no ../shared/traces/megatron-tp8";
  }
  const json& fabric = answer["fabric"];
  EXPECT_EQ(fabric["left_out"], 0);
  ASSERT_EQ(fabric["rows"].size(), 2U);
  const json& most = fabric["rows"][0];
  EXPECT_EQ(most["bytes"], 67'108'864);
  EXPECT_EQ(most["count"], 648);
  EXPECT_NEAR(most["bus_bandwidth_GBps"].get<double>(), 194.8, 0.1);
  EXPECT_FALSE(most["falls_short"]);
  for (const json& one : answer["findings"]) {
    EXPECT_NE(one["rule"], "slow-collective") << one["cause"];
  }
  const json without = diagnosed("megatron-tp8");
  EXPECT_TRUE(without["fabric"].is_null());
  bool asks = false;
  for (const json& one : without["abstained"]) {
    asks |= one["rule"] == "slow-collective" &&
            one["record"].get<std::string>().find("--on CLUSTER") != std::string::npos;
  }
  EXPECT_TRUE(asks) << without["abstained"];
}

// All that a first screen may say at once: some ranks of many, files that are no profiles, what is
// assumed.
TEST_F(DiagnoseTruth, TheFirstScreenIsOneScreen) {
  const std::filesystem::path job = shared_folder() / "traces" / "megatron-tp8";
  if (!std::filesystem::exists(job)) {
    GTEST_SKIP() << "no " << job;
  }
  const Ran ran = run_sextant({"diagnose", job.string(), "--ranks", "0-5"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_LE(std::count(ran.out.begin(), ran.out.end(), '\n'), 40) << ran.out;
  EXPECT_NE(ran.out.find("6 of 8 ranks"), std::string::npos) << ran.out;
}

// A product of the hidden states: where shapes are recorded, what it does is known.
TEST_F(DiagnoseTruth, ShapesSayWhatBindsAnOperator) {
  const json answer =
      diagnosed("h200/llama-350m_s2048_b4_bf16_none_sdpa.json.gz", {"--model-flops", "2e13"});
  if (answer.is_null()) {
    GTEST_SKIP() << "no ../shared/traces/h200";
  }
  const json& kpis = answer["kpis"];
  const double step = answer["step_time_s"].get<double>();
  // 989 TFLOP/s: an H200's bf16, dense.
  EXPECT_NEAR(kpis["mfu"].get<double>(), 2e13 / step / 989.5e12, 1e-3);
  EXPECT_GT(kpis["flops_utilisation"].get<double>(), 0.05);
  EXPECT_EQ(answer["operators"][0]["name"], "aten::mm");
  EXPECT_EQ(answer["operators"][0]["bound"], "compute");
  double categories = 0.0;
  for (const auto& [name, time] : answer["step_categories"].items()) {
    categories += time.get<double>();
  }
  EXPECT_NEAR(categories, step, 1e-9);
}

// Its lengths are lost, and with them the whole: that is why nothing ran.
TEST_F(DiagnoseTruth, ADamagedFileSaysWhatIsLost) {
  const std::filesystem::path file =
      shared_folder() / "traces" / "xplane" / "corrupt_tpu_inference_2.xplane.pb";
  if (!std::filesystem::exists(file)) {
    GTEST_SKIP() << "no " << file;
  }
  const Ran ran = run_sextant({"diagnose", file.string()});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("ends early"), std::string::npos) << ran.err;
}

// Idle 39.4 % with no loader process, 24.3 % with four, of the time between first and last kernel.
TEST_F(DiagnoseTruth, ResNetWaitsForItsData) {
  const json none = diagnosed(
      "kineto/resnet50_num_workers_0.worker0.1623143089861.pt.trace.json.gz", {"--hta-compatible"});
  if (none.is_null()) {
    GTEST_SKIP() << "no ../shared/traces/kineto";
  }
  const json four = diagnosed(
      "kineto/resnet50_num_workers_4.worker0.1623212756351.pt.trace.json.gz", {"--hta-compatible"});
  EXPECT_NEAR(none["temporal_breakdown"][0]["idle_time_pctg"].get<double>(), 39.4, 0.05);
  EXPECT_NEAR(four["temporal_breakdown"][0]["idle_time_pctg"].get<double>(), 24.3, 0.05);
}

// NCCL shares a stream with compute on both devices: nothing of it is behind compute. The exact
// numbers of the file are metrics_truth_test's.
TEST_F(DiagnoseTruth, NsightsDevicesAreRanks) {
  const json answer = diagnosed("nsys/mfu_2gpu_before.sqlite", {"--ranks", "0"});
  if (answer.is_null()) {
    GTEST_SKIP() << "no ../shared/traces/nsys";
  }
  EXPECT_EQ(answer["files"][0]["recorder"], "nsys");
  EXPECT_EQ(answer["per_rank"].size(), 1U);
  EXPECT_DOUBLE_EQ(answer["overlap_s"].get<double>(), 0.0);
  EXPECT_GT(answer["communication_s"].get<double>(), 0.0);
}

TEST_F(DiagnoseTruth, AnXplaneSaysWhatItsOperatorsDo) {
  const json answer = diagnosed("xplane/jax_h200_llama_8layer.xplane.pb", {"--steps", "0-2"});
  if (answer.is_null()) {
    GTEST_SKIP() << "no ../shared/traces/xplane";
  }
  EXPECT_EQ(answer["files"][0]["recorder"], "xplane");
  EXPECT_EQ(answer["steps"], 3);
  EXPECT_EQ(answer["kpis"]["device"], "h200-sxm");
  EXPECT_GT(answer["kpis"]["flops_utilisation"].get<double>(), 0.3);
}

// The loader's stall of 150 ms is the host's.
TEST_F(DiagnoseTruth, AStalledLoaderIsTheHostsDoing) {
  const json answer = diagnosed("h200/llama-350m_s2048_b4_bf16_none_sdpa_dataloader.json.gz");
  if (answer.is_null()) {
    GTEST_SKIP() << "no ../shared/traces/h200";
  }
  EXPECT_GT(answer["idle_by_cause"]["host_late_s"].get<double>(), 0.150);
}

}  // namespace
}  // namespace sextant::tests
