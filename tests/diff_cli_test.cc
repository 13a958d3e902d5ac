// `sextant diff` as a user meets it, on made runs and on real ones whose difference is known.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/places_testing.h"
#include "made_traces.h"
#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;

json compared(std::vector<std::string> words) {
  words.insert(words.begin(), "diff");
  words.emplace_back("--json");
  const Ran ran = run_sextant(words);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  return ran.exit_code == 0 ? json::parse(ran.out) : json();
}

std::string shared_trace(const std::string& name) {
  const std::filesystem::path path = shared_folder() / "traces" / name;
  return std::filesystem::exists(path) ? path.string() : std::string();
}

json change_named(const json& changes, const std::string& name) {
  for (const json& one : changes) {
    if (one["name"] == name) {
      return one;
    }
  }
  return nullptr;
}

double sum_of_changes(const json& changes) {
  double sum = 0.0;
  for (const json& one : changes) {
    sum += one["change_s"].get<double>();
  }
  return sum;
}

TEST(DiffCli, ARunIsLikeItself) {
  const Folder folder;
  const std::string file = folder.write("a.json", made_trace({.world = 2}));
  const json answer = compared({file, file});
  EXPECT_EQ(answer["schema"], "sextant.diff/1");
  EXPECT_DOUBLE_EQ(answer["change_s"].get<double>(), 0.0);
  for (const json& one : answer["made_of"]["changes"]) {
    EXPECT_DOUBLE_EQ(one["change_s"].get<double>(), 0.0) << one;
  }
  const Ran ran = run_sextant({"diff", file, file});
  EXPECT_NE(ran.out.find("the same"), std::string::npos) << ran.out;
}

// The product takes 1.5 ms longer, and the all-reduce 1.5 ms shorter: the rank came late.
TEST(DiffCli, WhatGrewAndWhatShrankIsTold) {
  const Folder folder;
  const std::string a = folder.write("a/rank0.json", made_trace({.world = 2}));
  const std::string b = folder.write("b/rank0.json", made_trace({.world = 2, .late_us = 1500}));
  const json answer = compared({a, b});
  const json product = change_named(answer["kernels"], "ampere_sgemm_128x64_nn");
  ASSERT_FALSE(product.is_null()) << answer;
  EXPECT_NEAR(product["change_s"].get<double>(), 1.5e-3, 1e-9);
  EXPECT_NEAR(answer["collectives"][0]["change_s"].get<double>(), -1.5e-3, 1e-9);
  EXPECT_NEAR(change_named(answer["breakdown"], "compute")["change_s"].get<double>(), 1.5e-3, 1e-9);
  EXPECT_NEAR(sum_of_changes(answer["made_of"]["changes"]), answer["change_s"].get<double>(), 1e-9);
}

TEST(DiffCli, TwoRanksOfOneRunAreCompared) {
  const Folder folder;
  (void)folder.write("rank0.json", made_trace({.rank = 0, .world = 2}));
  (void)folder.write("rank1.json", made_trace({.rank = 1, .world = 2, .late_us = 1500}));
  const std::string run = folder.path().string();
  const json answer = compared({run, run, "--ranks", "0", "--b-ranks", "1"});
  EXPECT_EQ(answer["a"]["ranks"], json::array({0}));
  EXPECT_EQ(answer["b"]["ranks"], json::array({1}));
  EXPECT_NEAR(change_named(answer["kernels"], "ampere_sgemm_128x64_nn")["change_s"].get<double>(),
              1.5e-3, 1e-9);
}

TEST(DiffCli, SummariesCompareAsTheirProfilesDo) {
  const Folder folder;
  const std::string a = folder.write("a.json", made_trace({.world = 2}));
  const std::string b = folder.write("b.json", made_trace({.world = 2, .late_us = 700}));
  for (const std::string& file : {a, b}) {
    ASSERT_EQ(run_sextant({"summarize", file, "--out", file + ".sxs"}).exit_code, 0);
  }
  json profiles = compared({a, b});
  json summaries = compared({a + ".sxs", b + ".sxs"});
  for (json* answer : {&profiles, &summaries}) {
    answer->erase("inputs");
    for (const char* side : {"a", "b"}) {
      (*answer)[side].erase("files");
    }
  }
  EXPECT_EQ(profiles, summaries);
}

TEST(DiffCli, FailOnIsForCi) {
  const Folder folder;
  const std::string a = folder.write("a.json", made_trace({}));
  const std::string b = folder.write("b.json", made_trace({.is_marked = true, .device = "x"}));
  EXPECT_EQ(run_sextant({"diff", a, b, "--fail-on", "slower>5%"}).exit_code, 0);
  const Ran unknown = run_sextant({"diff", a, b, "--fail-on", "slower>much"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("--fail-on"), std::string::npos) << unknown.err;
  EXPECT_EQ(run_sextant({"diff", a}).exit_code, 2);
  EXPECT_EQ(run_sextant({"diff", a, (folder.path() / "none.json").string()}).exit_code, 2);
}

TEST(DiffCli, TheFirstScreenIsOneScreen) {
  const std::string before = shared_trace("nsys/mfu_2gpu_before.sqlite");
  const std::string after = shared_trace("nsys/mfu_2gpu_after.sqlite");
  if (before.empty() || after.empty()) {
    GTEST_SKIP() << "no ../shared/traces/nsys";
  }
  const Ran ran = run_sextant({"diff", before, after});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_LE(std::count(ran.out.begin(), ran.out.end(), '\n'), 40) << ran.out;
}

// 17.57 ms → 20.05 ms a step. Nine tenths of these 2.48 ms and more are three kernels and causes of
// idle time (1.27 ms of them the host's coming late, 0.45 ms ncclDevKernel_SendRecv), or four
// ranges (1.23 ms of idle time before what aten::copy_ launches).
TEST(DiffCli, KernelsAndRangesOfThePairOfNsightAccountForIt) {
  const std::string before = shared_trace("nsys/mfu_2gpu_before.sqlite");
  const std::string after = shared_trace("nsys/mfu_2gpu_after.sqlite");
  if (before.empty() || after.empty()) {
    GTEST_SKIP() << "no ../shared/traces/nsys";
  }
  const json answer = compared({before, after});
  EXPECT_NEAR(answer["change_s"].get<double>(), 2.479e-3, 1e-6);
  for (const char* level : {"made_of", "made_of_ranges"}) {
    const json& makeup = answer[level];
    EXPECT_NEAR(sum_of_changes(makeup["changes"]), answer["change_s"].get<double>(), 1e-9) << level;
    EXPECT_LE(makeup["needed"].get<int>(), 6) << level;
    EXPECT_GE(makeup["needed_share"].get<double>(), 0.9) << level;
    EXPECT_LE(makeup["needed_share"].get<double>(), 1.1) << level;
  }
  EXPECT_FALSE(answer["host_signals"].empty());
  EXPECT_EQ(answer["made_of"]["of"], "kernels");
  EXPECT_EQ(answer["made_of"]["changes"][0]["name"], "idle: host late");
  EXPECT_EQ(answer["made_of_ranges"]["changes"][0]["name"], "aten::copy_");
  EXPECT_NEAR(change_named(answer["collectives"], "sendrecv")["change_s"].get<double>(), 0.452e-3,
              1e-6);
}

// One model on an H100 and on an MI300: kernels share no name, operators and kinds of work do.
TEST(DiffCli, OtherDevicesAreComparedByWhatIsDone) {
  const std::string h100 = shared_trace("tracelens/h100_qwen1.5-0.5b.json.gz");
  const std::string mi300 = shared_trace("tracelens/mi300_qwen1.5-0.5b.json.gz");
  if (h100.empty() || mi300.empty()) {
    GTEST_SKIP() << "no ../shared/traces/tracelens";
  }
  const json answer = compared({h100, mi300});
  EXPECT_EQ(answer["made_of"]["of"], "operators");
  EXPECT_NEAR(sum_of_changes(answer["made_of"]["changes"]), answer["change_s"].get<double>(), 1e-9);
  const json product = change_named(answer["made_of"]["changes"], "aten::mm");
  EXPECT_NEAR(product["change_s"].get<double>(), 1.995e-3, 1e-6);
  // 239 products on one, 242 on the other, whatever their kernels are called.
  const json products = change_named(answer["kinds"], "matrix products");
  EXPECT_NEAR(products["a_count"].get<double>(), products["b_count"].get<double>(), 5.0);
  EXPECT_NEAR(products["change_s"].get<double>(), 4.26e-3, 0.01e-3);
  EXPECT_TRUE(change_named(answer["kinds"], "other").is_null() ||
              std::abs(change_named(answer["kinds"], "other")["change_s"].get<double>()) < 1e-4);
}

}  // namespace
}  // namespace sextant::tests
