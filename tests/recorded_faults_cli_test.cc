// Real runs with a fault and the same without, as `sextant diagnose` shows them: what comes first,
// and whether what its finding claims is what mending it saved. Writes docs/diagnosis_recorded.md.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/csv.h"
#include "base/file.h"
#include "base/places_testing.h"
#include "base/text.h"
#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;

// A row of ../shared/truth/h200/train_steps.csv: the same training without a profiler, which slows
// the host of one run and not the device of the other.
struct TimedRun {
  std::string name;
  std::string sequence;
  std::string micro_batch;
  std::string recompute;
  std::string attention;
};

struct RecordedFault {
  std::string fault;
  std::string rule;  // that should come first
  std::string with;  // files below ../shared/traces, all in a folder where it is one
  std::string without;
  std::string fix;                          // what differs between the two
  std::optional<TimedRun> timed_with = {};  // nothing: as the profiles say
  std::optional<TimedRun> timed_without = {};
};

const std::vector<RecordedFault>& recorded_faults() {
  const std::string small = "h200/llama-350m_s2048_b4_";
  const std::string large = "h200/llama-1.3b_s2048_b4_";
  static const std::vector<RecordedFault> kFaults{
      {"150 ms without data before each step", "input-bound",
       small + "bf16_none_sdpa_dataloader.json.gz", small + "bf16_none_sdpa.json.gz", "no stall"},
      {"attention that writes its scores", "eager-attention", small + "bf16_none_eager.json.gz",
       small + "bf16_none_sdpa.json.gz", "a fused kernel",
       TimedRun{"llama-350m", "2048", "4", "none", "eager"},
       TimedRun{"llama-350m", "2048", "4", "none", "sdpa"}},
      {"fp32 without TF32", "missing-tensor-cores", small + "fp32_none_sdpa.json.gz",
       small + "bf16_none_sdpa.json.gz", "bf16"},
      {"everything recomputed where it would fit", "needless-recompute",
       large + "bf16_full_sdpa.json.gz", large + "bf16_none_sdpa.json.gz", "no recompute",
       TimedRun{"llama-1.3b", "2048", "4", "full", "sdpa"},
       TimedRun{"llama-1.3b", "2048", "4", "none", "sdpa"}},
      {"ResNet-50 without loader workers", "input-bound",
       "kineto/resnet50_num_workers_0.worker0.1623143089861.pt.trace.json.gz",
       "kineto/resnet50_num_workers_4.worker0.1623212756351.pt.trace.json.gz", "four workers"},
      {"rank 2 of 8 waits 150 ms for data", "data-late-rank", "gloo_ranks/late_data",
       "gloo_ranks/plain", "no wait"},
      {"no cache of device memory", "allocator-churn",
       "tracelens/ddp_resnet18_no_pool.train_resnet18.json.gz", "", ""},
      {"two hosts of eight launch late", "late-rank", "megatron-tp8", "", ""}};
  return kFaults;
}

json diagnosis_of(const std::string& files) {
  const std::filesystem::path path = shared_folder() / "traces" / files;
  std::vector<std::string> words{"diagnose", "--json"};
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().string().ends_with(".json.gz") &&
          entry.path().string().find("_et_") == std::string::npos) {
        words.push_back(entry.path().string());
      }
    }
    std::ranges::sort(words.begin() + 2, words.end());
  } else {
    words.push_back(path.string());
  }
  const Ran ran = run_sextant(words);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  return ran.exit_code == 0 ? json::parse(ran.out) : json();
}

const json* finding_of(const json& answer, const std::string& rule) {
  for (const json& one : answer["findings"]) {
    if (one["rule"] == rule) {
      return &one;
    }
  }
  return nullptr;
}

double measured_step(const CsvTable& table, const TimedRun& run) {
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.field(row, "name") == run.name && table.field(row, "seq") == run.sequence &&
        table.field(row, "micro_batch") == run.micro_batch &&
        table.field(row, "recompute") == run.recompute &&
        table.field(row, "attention") == run.attention &&
        table.field(row, "optimizer") == "fused" && table.field(row, "compile") == "0" &&
        table.field(row, "precision") == "bf16") {
      return to_double(table.field(row, "step_ms_median")).value_or(0.0);
    }
  }
  ADD_FAILURE() << "no measured step of " << run.name << " " << run.attention;
  return 0.0;
}

struct Checked {
  const RecordedFault* fault = nullptr;
  double step_ms = 0.0;  // in the profile
  std::string first;
  double claimed_ms = 0.0;
  std::optional<double> saved_ms;
  [[nodiscard]] bool is_kept() const {
    return saved_ms && *saved_ms <= claimed_ms && claimed_ms <= 2.0 * *saved_ms;
  }
};

Checked checked(const RecordedFault& fault, const CsvTable& steps) {
  const json with = diagnosis_of(fault.with);
  Checked one{.fault = &fault,
              .step_ms = with["step_time_s"].get<double>() * 1e3,
              .first = with["findings"].at(0)["rule"],
              .claimed_ms = 0.0,
              .saved_ms = std::nullopt};
  const json* finding = finding_of(with, fault.rule);
  EXPECT_NE(finding, nullptr) << fault.fault;
  one.claimed_ms = finding == nullptr ? 0.0 : (*finding)["seconds_per_step"].get<double>() * 1e3;
  if (fault.timed_with && fault.timed_without) {
    one.saved_ms =
        measured_step(steps, *fault.timed_with) - measured_step(steps, *fault.timed_without);
  } else if (!fault.without.empty()) {
    const json without = diagnosis_of(fault.without);
    one.saved_ms = one.step_ms - without["step_time_s"].get<double>() * 1e3;
    const json* same = finding_of(without, fault.rule);
    EXPECT_EQ(same, nullptr) << fault.rule << " is found in " << fault.without;
  }
  return one;
}

std::string page_of(const std::vector<Checked>& rows) {
  std::string text = R"(# Diagnosis of recorded runs, checked

Written by a test (`RecordedFaults.ComeFirstAndAreWorthWhatTheyClaim`, with `SEXTANT_UPDATE_PAGES=1`), which compares. All runs are **real**; made ones: [diagnosis.md](diagnosis.md). Saved: step with the fault less step without, in the profiles, or (*) in the same runs without a profiler. Kept: saved ≤ claimed ≤ 2 × saved.

| fault | step | comes first | claims | mended by | saved | kept |
|---|---|---|---|---|---|---|
)";
  for (const Checked& one : rows) {
    text += fmt::format(
        "| {} | {:.1f} ms | {} | {:.1f} ms | {} | {} | {} |\n", one.fault->fault, one.step_ms,
        one.first, one.claimed_ms, one.saved_ms ? one.fault->fix : "–",
        one.saved_ms ? fmt::format("{:.1f} ms{}", *one.saved_ms, one.fault->timed_with ? " *" : "")
                     : "–",
        !one.saved_ms   ? "–"
        : one.is_kept() ? "yes"
                        : "no");
  }
  return text;
}

TEST(RecordedFaults, ComeFirstAndAreWorthWhatTheyClaim) {
  if (!std::filesystem::exists(shared_folder() / "traces/h200")) {
    GTEST_SKIP() << "no profiles in " << shared_folder() / "traces";
  }
  auto text = read_file(shared_folder() / "truth/h200/train_steps.csv", 1_MiB);
  ASSERT_TRUE(text);
  const auto steps = CsvTable::parse(*std::move(text), "train_steps.csv");
  ASSERT_TRUE(steps);
  std::vector<Checked> rows;
  int pairs = 0;
  int kept = 0;
  for (const RecordedFault& fault : recorded_faults()) {
    rows.push_back(checked(fault, *steps));
    EXPECT_EQ(rows.back().first, fault.rule) << fault.fault;
    pairs += rows.back().saved_ms ? 1 : 0;
    kept += rows.back().is_kept() ? 1 : 0;
  }
  EXPECT_GE(kept, 0.8 * pairs) << kept << " of " << pairs << "\n" << page_of(rows);
  const std::filesystem::path path = source_folder() / "docs/diagnosis_recorded.md";
  if (std::getenv("SEXTANT_UPDATE_PAGES") != nullptr) {
    std::ofstream(path, std::ios::binary) << page_of(rows);
  }
  const auto page = read_file(path, 1_MiB);
  ASSERT_TRUE(page) << "run this test with SEXTANT_UPDATE_PAGES=1";
  EXPECT_EQ(*page, page_of(rows)) << "run this test with SEXTANT_UPDATE_PAGES=1";
}

}  // namespace
}  // namespace sextant::tests
