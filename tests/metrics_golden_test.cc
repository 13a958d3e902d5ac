// HTA's own numbers on real profiles (../shared/traces/golden/hta), met to its whole microseconds
// and two decimals.
//
// Where HTA's own defects (docs/metrics.md, "What HTA does otherwise") change a number, the file
// stands in kExceptions with the defect's number, and that number is not compared:
//   2  rounding turns short kernels around, and what is sorted by start alone comes in any order;
//   3  a Triton operator of the host that carries a stream is counted as a kernel.
// The mean length of a queue depends on what is counted first of what happens within one
// microsecond, which HTA leaves to an unstable sort: it must lie between the two possible answers.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/places_testing.h"
#include "metrics/hta_queues.h"
#include "metrics/hta_times.h"
#include "profile/read.h"

namespace sextant {
namespace {

using metrics::HtaRank;
using metrics::HtaTies;
using nlohmann::json;

std::filesystem::path traces() {
  return source_folder() / ".." / "shared" / "traces";
}

struct Golden {
  std::string name;
  std::string profiles;  // below traces/, with {} for the rank
  std::set<int> exceptions = {};
};

const std::vector<Golden>& golden_files() {
  static const std::vector<Golden> kFiles{
      {"amd_mi250", "hta/amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz"},
      {"cp_alexnet", "hta/critical_path/alexnet/benchmark_result_2869224_1695835535_trace.json.gz"},
      {"cp_event_sync", "hta/critical_path/cuda_event_sync/event_sync_trace.json.gz"},
      {"cp_event_sync_multi",
       "hta/critical_path/cuda_event_sync_multi_stream/event_sync_trace.json.gz"},
      {"cp_simple_add",
       "hta/critical_path/simple_add/benchmark_result_493459_1694039959_trace.json.gz"},
      {"df_index_resolver", "hta/df_index_resolver/df_index_resolver.json.gz"},
      {"kineto_resnet50_nw0",
       "kineto/resnet50_num_workers_0.worker0.1623143089861.pt.trace.json.gz"},
      {"kineto_resnet50_nw4",
       "kineto/resnet50_num_workers_4.worker0.1623212756351.pt.trace.json.gz"},
      {"megatron_tp8_8rank", "megatron-tp8/megatron_kineto_{}.json.gz"},
      {"nccl_parser_config", "hta/nccl_parser_config/nccl_data.json.gz"},
      {"ns_resolution", "hta/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz"},
      {"trace_diff_control", "hta/trace_diff/control/control.json.gz"},
      {"trace_diff_test", "hta/trace_diff/test/test.json.gz"},
      {"trace_filter_2rank", "hta/trace_filter/sampled_rank-{}.json.gz"},
      {"tracelens_b200_eager", "tracelens/b200_eager_rank0of8.json.gz", {3}},
      {"tracelens_h100_qwen", "tracelens/h100_qwen1.5-0.5b.json.gz", {2}},
      {"tracelens_mi300_ddp_resnet18", "tracelens/ddp_resnet18_no_pool.train_resnet18.json.gz"},
      {"triton_example", "hta/triton_example/triton_example.json.gz", {3}}};
  return kFiles;
}

double two_decimals(double value) {
  return std::round(value * 100.0) / 100.0;
}

// Equal to what HTA prints; null is what it could not say.
void expect_us(std::int64_t ours, const json& theirs, const std::string& what) {
  if (!theirs.is_null()) {
    EXPECT_EQ(static_cast<double>(ours), theirs.get<double>()) << what;
  }
}
void expect_close(double ours, const json& theirs, const std::string& what) {
  if (!theirs.is_null()) {
    EXPECT_NEAR(ours, theirs.get<double>(), 0.0051) << what;
  }
}

const json* row_of(const json& table, std::int64_t rank) {
  for (const json& row : table) {
    if (row["rank"] == rank) {
      return &row;
    }
  }
  return nullptr;
}

void expect_temporal(const HtaRank& rank, const json& golden) {
  const json* theirs = golden.contains("temporal_breakdown")
                           ? row_of(golden["temporal_breakdown"], rank.rank.value)
                           : nullptr;
  if (theirs == nullptr) {
    return;
  }
  const metrics::HtaTemporal ours = metrics::hta_temporal(rank).value();
  expect_us(ours.idle_us, (*theirs)["idle_time(us)"], "idle");
  expect_us(ours.compute_us, (*theirs)["compute_time(us)"], "compute");
  expect_us(ours.non_compute_us, (*theirs)["non_compute_time(us)"], "non-compute");
  expect_us(ours.kernel_us, (*theirs)["kernel_time(us)"], "kernel time");
  expect_close(100.0 * static_cast<double>(ours.idle_us) / static_cast<double>(ours.kernel_us),
               (*theirs)["idle_time_pctg"], "idle %");
}

void expect_overlap(const HtaRank& rank, const json& golden) {
  const json* theirs = row_of(golden["comm_comp_overlap"], rank.rank.value);
  ASSERT_NE(theirs, nullptr);
  const std::optional<double> ours = metrics::hta_overlap(rank);
  EXPECT_EQ(ours.has_value(), !(*theirs)["comp_comm_overlap_pctg"].is_null());
  if (ours) {
    EXPECT_DOUBLE_EQ(two_decimals(*ours), (*theirs)["comp_comm_overlap_pctg"].get<double>());
  }
}

void expect_idle(const HtaRank& rank, const json& golden) {
  constexpr std::array<const char*, 3> kCauses{"host_wait", "kernel_wait", "other"};
  const json& theirs = golden["idle_time_breakdown"][std::to_string(rank.rank.value)];
  std::size_t seen = 0;
  for (const metrics::HtaStreamIdle& ours : metrics::hta_idle(rank)) {
    for (const json& row : theirs["breakdown"]) {
      for (std::size_t cause = 0; cause < kCauses.size(); ++cause) {
        if (row["stream"] != ours.stream.value || row["idle_category"] != kCauses[cause]) {
          continue;
        }
        seen += 1;
        expect_us(ours.time_us[cause], row["idle_time"], kCauses[cause]);
        if (ours.total_us() != 0) {
          expect_close(two_decimals(static_cast<double>(ours.time_us[cause]) /
                                    static_cast<double>(ours.total_us())),
                       row["idle_time_ratio"], kCauses[cause]);
        }
      }
    }
  }
  EXPECT_EQ(seen, theirs["breakdown"].size());
}

void expect_queues(const HtaRank& rank, const json& golden) {
  const auto enter = metrics::hta_queues(rank, HtaTies::kEnterFirst);
  const auto leave = metrics::hta_queues(rank, HtaTies::kLeaveFirst);
  ASSERT_EQ(enter.size(), leave.size());
  std::size_t rows = 0;
  for (const json& theirs : golden["queue_length_summary"]) {
    rows += theirs["rank"] == rank.rank.value ? 1 : 0;
    for (std::size_t i = 0; i < enter.size(); ++i) {
      if (theirs["rank"] != rank.rank.value || theirs["stream"] != enter[i].stream.value) {
        continue;
      }
      const auto between = [&](double low, double high, const char* key) {
        EXPECT_LE(low, theirs[key].get<double>() + 0.005) << key;
        EXPECT_GE(high, theirs[key].get<double>() - 0.005) << key;
      };
      EXPECT_EQ(theirs["queue_length_count"].get<double>(),
                static_cast<double>(enter[i].length.count));
      between(leave[i].length.mean, enter[i].length.mean, "queue_length_mean");
      between(leave[i].length.median, enter[i].length.median, "queue_length_50%");
      between(leave[i].length.max, enter[i].length.max, "queue_length_max");
    }
  }
  EXPECT_EQ(rows, enter.size());
}

void expect_launches(const HtaRank& rank, const json& golden) {
  const json& theirs = golden["kernel_launch_stats"][std::to_string(rank.rank.value)];
  const metrics::HtaLaunches ours = metrics::hta_launches(rank);
  expect_us(ours.rows, theirs["rows"], "launches");
  expect_us(ours.cpu_us, theirs["cpu_duration_sum"], "time of calls");
  expect_us(ours.gpu_us, theirs["gpu_duration_sum"], "time of kernels");
  expect_us(ours.delay_total_us, theirs["launch_delay_sum"], "delays");
  expect_us(ours.short_kernels, theirs["short_kernels(gpu<cpu)"], "short kernels");
  expect_us(ours.long_calls, theirs["runtime_outliers(>50us)"], "long calls");
  expect_us(ours.long_delays, theirs["launch_delay_outliers(>100us)"], "long delays");
  if (ours.rows > 0) {
    expect_close(ours.delay_us.mean, theirs["launch_delay_describe"]["mean"], "mean delay");
    expect_close(ours.delay_us.deviation, theirs["launch_delay_describe"]["std"], "deviation");
  }
}

// Sums by name; what HTA folds into "others" it does not name.
void expect_kernels(const metrics::View& view, const HtaRank& rank, const json& golden) {
  const auto ours = metrics::hta_kernels(view, rank);
  for (const json& theirs : golden["kernel_breakdown"]["kernels"]) {
    const auto name = theirs["name"].get<std::string>();
    if (theirs["rank"] != rank.rank.value || name == "others") {
      continue;
    }
    const auto row =
        std::find_if(ours.begin(), ours.end(), [&](const auto& one) { return one.name == name; });
    ASSERT_NE(row, ours.end()) << name;
    expect_us(row->sum_us, theirs["sum (us)"], name);
  }
}

class HtaGolden : public testing::TestWithParam<Golden> {};

TEST_P(HtaGolden, IsMet) {
  const Golden& file = GetParam();
  const std::filesystem::path answers = traces() / "golden" / "hta" / (file.name + ".json");
  if (!std::filesystem::exists(answers)) {
    GTEST_SKIP() << "no " << answers;
  }
  std::ifstream in(answers);
  const json all = json::parse(in);
  const json& golden = all["results"];
  for (const auto& [rank_text, unused] : all["traces"].items()) {
    std::string path = file.profiles;
    if (const std::size_t at = path.find("{}"); at != std::string::npos) {
      path.replace(at, 2, rank_text);
    }
    SCOPED_TRACE(path);
    profile::ReadOptions options;
    options.rank = RankId{std::stoll(rank_text)};
    const Result<timeline::Recording> recording = profile::read_profile(traces() / path, options);
    ASSERT_TRUE(recording) << to_text(recording.error());
    const metrics::View view = metrics::view_of(*recording);
    const std::vector<HtaRank> ranks = metrics::hta_rows(view);
    ASSERT_EQ(ranks.size(), 1U);
    HtaRank rank = ranks[0];
    rank.rank = RankId{std::stoll(rank_text)};
    if (!file.exceptions.contains(3)) {
      expect_temporal(rank, golden);
      expect_us(static_cast<std::int64_t>(rank.rows.size()),
                golden["gpu_rows_after_filter(stream!=-1)"][rank_text], "rows");
      expect_kernels(view, rank, golden);
    }
    if (!file.exceptions.contains(2)) {
      expect_idle(rank, golden);
    }
    expect_overlap(rank, golden);
    expect_queues(rank, golden);
    expect_launches(rank, golden);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, HtaGolden, testing::ValuesIn(golden_files()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace sextant
