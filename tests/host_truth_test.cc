// What the rules about the host say of real profiles (../shared/traces; README there).
#include <filesystem>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/places_testing.h"
#include "diagnose/host_rules.h"
#include "metrics/summary.h"
#include "profile/read.h"

namespace sextant::tests {
namespace {

using diagnose::Finding;
using diagnose::Findings;
using diagnose::Status;

class HostTruth : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(shared_folder() / "traces/h200")) {
      GTEST_SKIP() << "no profiles in " << shared_folder() / "traces";
    }
  }

  static metrics::Summary summary_of(const std::vector<std::string>& files) {
    auto text = read_file(source_folder() / "data/profile/names.csv", 1_MiB);
    EXPECT_TRUE(text);
    auto names = profile::RecognitionTable::parse(*std::move(text), "names.csv");
    EXPECT_TRUE(names);
    // Of several files each says its own rank.
    const auto rank = files.size() == 1 ? std::optional(RankId{0}) : std::nullopt;
    metrics::Summary all;
    for (const std::string& file : files) {
      auto recording =
          profile::read_profile(shared_folder() / "traces" / file, {.names = *names, .rank = rank});
      EXPECT_TRUE(recording) << (recording ? "" : to_text(recording.error()));
      if (recording) {
        all = metrics::merge(std::move(all), metrics::summarize(*recording));
      }
    }
    return all;
  }

  // Those that cost most first.
  static std::vector<Finding> found_in(const std::vector<std::string>& files) {
    const metrics::Summary summary = summary_of(files);
    Findings findings = host_findings(diagnose::scene_of(summary, {}, std::nullopt));
    std::ranges::stable_sort(
        findings.found, [](const Finding& a, const Finding& b) { return a.per_step > b.per_step; });
    return findings.found;
  }

  static const Finding* find(const std::vector<Finding>& findings, std::string_view rule) {
    const auto at = std::ranges::find(findings, rule, &Finding::rule);
    return at == findings.end() ? nullptr : &*at;
  }
};

// 150 ms of stall before each step. No loader is recorded, so that it is inferred.
TEST_F(HostTruth, ADataStallOf150MsComesFirst) {
  const auto found = found_in({"h200/llama-350m_s2048_b4_bf16_none_sdpa_dataloader.json.gz"});
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].rule, "input-bound");
  EXPECT_EQ(found[0].status, Status::kInferred);
  EXPECT_NEAR(found[0].per_step / 1_ms, 150.0, 1.5);
}

// The same model without the stall launches 3041 kernels of 25 us in 197 ms: the host is its limit.
TEST_F(HostTruth, APlainRunOfASmallModelIsBoundByLaunches) {
  const auto found = found_in({"h200/llama-350m_s2048_b4_bf16_none_sdpa.json.gz"});
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].rule, "launch-bound");
  EXPECT_EQ(find(found, "input-bound"), nullptr);
}

// Devices that are busy 98 % of the step have nothing to blame the host for.
TEST_F(HostTruth, PlainRunsOfBusyDevicesRaiseNoAlarm) {
  for (const char* file : {"h200/llama-350m_s2048_b4_fp32_none_sdpa.json.gz",
                           "h200/llama3.2-1b_s8192_b2_bf16_none_sdpa.json.gz"}) {
    EXPECT_TRUE(found_in({file}).empty()) << file;
  }
}

// ResNet-50 without loader workers and with four: 39.4 % and 24.3 % idle between kernels.
TEST_F(HostTruth, OnlyTheRunWithoutWorkersIsBoundByInput) {
  const auto without =
      found_in({"kineto/resnet50_num_workers_0.worker0.1623143089861.pt.trace.json.gz"});
  ASSERT_FALSE(without.empty());
  EXPECT_EQ(without[0].rule, "input-bound");
  EXPECT_EQ(without[0].status, Status::kVerified);
  // The loader takes 71.1 ms a step, of which the device idles 58.9. The copy that follows waits
  // for the device: it would lose what the host gained in the rest.
  EXPECT_NEAR(without[0].per_step / 1_ms, 58.9, 0.1);
  const auto with =
      found_in({"kineto/resnet50_num_workers_4.worker0.1623212756351.pt.trace.json.gz"});
  EXPECT_EQ(find(with, "input-bound"), nullptr);
}

std::vector<std::string> ranks_of(const std::string& folder) {
  std::vector<std::string> files;
  for (int rank = 0; rank < 8; ++rank) {
    files.push_back("gloo_ranks/" + folder + "/rank" + std::to_string(rank) + ".json.gz");
  }
  return files;
}

// Rank 2 waits 150 ms for data before every step; without the fault nobody waits for data.
TEST_F(HostTruth, TheRankThatWaitsForDataIsNamed) {
  const auto late = found_in(ranks_of("late_data"));
  ASSERT_FALSE(late.empty());
  EXPECT_EQ(late[0].rule, "input-bound");
  EXPECT_EQ(late[0].ranks, (std::vector<RankId>{{2}}));
  EXPECT_NEAR(late[0].per_step / 1_ms, 150.0, 3.0);
  for (const Finding& finding : found_in(ranks_of("plain"))) {
    EXPECT_LT(finding.per_step / 1_ms, 0.03 * 246.4) << finding.cause;
  }
}

// Ranks 0 and 6 launch late: they stand still for up to 26 ms in calls of microseconds.
TEST_F(HostTruth, RanksZeroAndSixOfMegatronLoseTheirCores) {
  std::vector<std::string> files;
  for (int rank = 0; rank < 8; ++rank) {
    files.push_back("megatron-tp8/megatron_kineto_" + std::to_string(rank) + ".json.gz");
  }
  const auto found = found_in(files);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].rule, "cpu-contention");
  EXPECT_EQ(found[0].ranks, (std::vector<RankId>{{0}, {6}}));
}

// Recorded with PYTORCH_NO_CUDA_MEMORY_CACHING=1, as the file's name says.
TEST_F(HostTruth, ARunWithoutACacheOfMemoryIsItsAllocators) {
  const auto found = found_in({"tracelens/ddp_resnet18_no_pool.train_resnet18.json.gz"});
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].rule, "allocator-churn");
  EXPECT_EQ(find(found, "hbm-near-limit"), nullptr);
}

// A benchmark's first run: kernels are loaded for 1.5 s, and nothing was freed for want of room.
TEST_F(HostTruth, TheFirstLaunchOfAKernelLoadsIt) {
  const auto found =
      found_in({"hta/critical_path/alexnet/benchmark_result_2869224_1695835535_trace.json.gz"});
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].rule, "recompilation");
  EXPECT_EQ(find(found, "hbm-near-limit"), nullptr);
}

// 15,230 functions of Python in 16 steps: how fast the host launches by itself is not known.
TEST_F(HostTruth, RecordedStacksAreSaidToSlowTheHost) {
  const auto found = found_in({"tracelens/b200_eager_rank0of8.json.gz"});
  ASSERT_NE(find(found, "profiler-overhead"), nullptr);
  EXPECT_EQ(find(found, "profiler-overhead")->status, Status::kInferred);
  ASSERT_NE(find(found, "launch-bound"), nullptr);
  EXPECT_EQ(find(found, "launch-bound")->explained_by, "profiler-overhead");
}

// Three steps of a model that a compiler made: the host has nothing to do with its time but that it
// waits for each step's end.
TEST_F(HostTruth, AJaxRunOnABusyDeviceRaisesNoAlarm) {
  for (const Finding& finding : found_in({"xplane/jax_h200_llama_8layer.xplane.pb"})) {
    EXPECT_EQ(finding.rule, "host-sync") << finding.cause;
    EXPECT_LE(finding.per_step / 1_ms, 0.03 * 67.0) << finding.cause;
  }
}

// Every step copies 8 bytes from pageable memory, and waits 9 ms for the device to take them.
TEST_F(HostTruth, ACopyOfEightBytesHoldsTheHostUp) {
  const auto found = found_in({"nsys/mfu_2gpu_before.sqlite"});
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].rule, "pageable-copies");
  EXPECT_EQ(found[0].status, Status::kInferred);
}

}  // namespace
}  // namespace sextant::tests
