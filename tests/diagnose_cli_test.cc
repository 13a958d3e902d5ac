// `sextant diagnose` as a user meets it: what is read, what is said, what is refused.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "made_traces.h"
#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;

json diagnosed(std::vector<std::string> words) {
  words.insert(words.begin(), "diagnose");
  words.emplace_back("--json");
  const Ran ran = run_sextant(words);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  return ran.exit_code == 0 ? json::parse(ran.out) : json();
}

// Of a folder of made ranks; rank 1 is 1.5 ms late.
void write_ranks(const Folder& folder, int world, const std::string& name = "rank{}.json") {
  for (int rank = 0; rank < world; ++rank) {
    std::string file = name;
    file.replace(file.find("{}"), 2, std::to_string(rank));
    (void)folder.write(file,
                       made_trace({.rank = rank, .world = world, .late_us = rank == 1 ? 1500 : 0}));
  }
}

// made_traces.h says what a step is made of: 5 ms of compute, 2 ms of all-reduce, 3 ms of nothing.
TEST(DiagnoseCli, AStepIsTheSumOfItsParts) {
  const Folder folder;
  const json answer = diagnosed({folder.write("a.json", made_trace({.world = 2}))});
  EXPECT_EQ(answer["schema"], "sextant.diagnose/2");
  EXPECT_EQ(answer["ranks"], 1);
  EXPECT_EQ(answer["steps"], 3);
  EXPECT_DOUBLE_EQ(answer["step_time_s"].get<double>(), 0.010);
  EXPECT_DOUBLE_EQ(answer["breakdown"]["compute_s"].get<double>(), 0.005);
  EXPECT_DOUBLE_EQ(answer["breakdown"]["exposed_comm_s"].get<double>(), 0.002);
  EXPECT_DOUBLE_EQ(answer["breakdown"]["exposed_copy_s"].get<double>(), 0.0);
  EXPECT_DOUBLE_EQ(answer["breakdown"]["idle_s"].get<double>(), 0.003);
  EXPECT_EQ(answer["per_rank"][0]["steps_left_out"], 2);
  EXPECT_EQ(answer["per_rank"][0]["step_basis"], "markers");
}

// 4 MiB in 2 ms: 2.097 GB/s, and 2 (n − 1) / n = 1 of it on a ring of two.
TEST(DiagnoseCli, CollectivesHaveBothBandwidths) {
  const Folder folder;
  const json answer = diagnosed({folder.write("a.json", made_trace({.world = 2}))});
  ASSERT_EQ(answer["collectives"].size(), 1U);
  const json& row = answer["collectives"][0];
  EXPECT_EQ(row["collective"], "all_reduce");
  EXPECT_EQ(row["ranks"], 2);
  EXPECT_EQ(row["count"], 3);
  EXPECT_NEAR(row["algorithm_bandwidth_GBps"].get<double>(), 4194304 / 2e-3 / 1e9, 1e-9);
  EXPECT_NEAR(row["bus_bandwidth_GBps"].get<double>(), 4194304 / 2e-3 / 1e9, 1e-9);
}

TEST(DiagnoseCli, TheFirstScreenIsOneScreen) {
  const Folder folder;
  write_ranks(folder, 8);
  const Ran ran = run_sextant({"diagnose", folder.path().string()});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_LE(std::count(ran.out.begin(), ran.out.end(), '\n'), 40);
  for (const char* said : {"8 ranks of 8", "NVIDIA H100 80GB HBM3", "8 files", "PyTorch profiler",
                           "the first and the last are left out", "where the step goes",
                           "exposed communication", "finds", "by host", "device=h100-sxm"}) {
    EXPECT_NE(ran.out.find(said), std::string::npos) << said << "\n" << ran.out;
  }
}

TEST(DiagnoseCli, TheRankThatOthersWaitForStandsFirst) {
  const Folder folder;
  write_ranks(folder, 8);
  const Ran ran = run_sextant({"diagnose", folder.path().string(), "--top", "8"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const std::size_t head = ran.out.find("\nrank ");
  ASSERT_NE(head, std::string::npos) << ran.out;
  const std::size_t first = ran.out.find('\n', head + 1) + 1;
  EXPECT_EQ(ran.out.substr(first, ran.out.find("10 ms", first) - first), "   1  ") << ran.out;
}

TEST(DiagnoseCli, FilesPatternsAndFoldersAreOneAnswer) {
  const Folder folder;
  write_ranks(folder, 3);
  const std::string base = folder.path().string();
  json whole = diagnosed({base});
  EXPECT_EQ(whole["ranks"], 3);
  EXPECT_EQ(whole["is_whole_job"], true);
  EXPECT_EQ(diagnosed({base + "/rank*.json"}), whole);
  EXPECT_EQ(diagnosed({base + "/**/rank[0-2].json"}), whole);
  EXPECT_EQ(diagnosed({base + "/rank0.json", base + "/rank1.json", base + "/rank2.json"}), whole);
  // A file that is named twice is read once.
  EXPECT_EQ(diagnosed({base + "/rank0.json", base}), whole);
}

TEST(DiagnoseCli, TensorBoardsLastRunIsRead) {
  const Folder folder;
  (void)folder.write("plugins/profile/2026_01_01_00_00_00/host.json",
                     made_trace({.steps = 3, .device = "NVIDIA A100-SXM4-80GB"}));
  (void)folder.write("plugins/profile/2026_02_01_00_00_00/host.json", made_trace({}));
  const Ran ran = run_sextant({"diagnose", folder.path().string()});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("NVIDIA H100"), std::string::npos) << ran.out;
  EXPECT_NE(ran.err.find("of 2 runs"), std::string::npos) << ran.err;
}

TEST(DiagnoseCli, AFewOfManyRanksAreNoVerdictOnTheJob) {
  const Folder folder;
  write_ranks(folder, 4);
  const Ran ran = run_sextant({"diagnose", folder.path().string(), "--ranks", "0,2-3"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("3 of 4 ranks: nothing is said of the job as a whole"), std::string::npos)
      << ran.out;
  const json answer = diagnosed({folder.path().string(), "--ranks", "2"});
  EXPECT_EQ(answer["per_rank"].size(), 1U);
  EXPECT_EQ(answer["per_rank"][0]["rank"], 2);
  EXPECT_EQ(answer["is_whole_job"], false);
  const Ran none = run_sextant({"diagnose", folder.path().string(), "--ranks", "9"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("0-3"), std::string::npos) << none.err;
}

TEST(DiagnoseCli, StepsThatAreAskedForAreMeasured) {
  const Folder folder;
  const std::string file = folder.write("a.json", made_trace({}));
  const json answer = diagnosed({file, "--steps", "3-4"});
  ASSERT_EQ(answer["per_rank"][0]["steps"].size(), 2U);
  EXPECT_EQ(answer["per_rank"][0]["steps"][0]["number"], 3);
  EXPECT_EQ(answer["per_rank"][0]["steps"][1]["number"], 4);
  EXPECT_EQ(run_sextant({"diagnose", file, "--steps", "7-4"}).exit_code, 2);
  const Ran none = run_sextant({"diagnose", file, "--steps", "30-40"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("no step from 30 to 40 is recorded (allowed: 3-7)"), std::string::npos)
      << none.err;
  EXPECT_EQ(run_sextant({"diagnose", file, "--steps", "all"}).exit_code, 2);
}

TEST(DiagnoseCli, WithoutMarksItIsSaidHowStepsWereFound) {
  const Folder folder;
  const Ran found = run_sextant(
      {"diagnose", folder.write("a.json", made_trace({.steps = 12, .is_marked = false}))});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  EXPECT_NE(found.out.find("no step is marked"), std::string::npos) << found.out;
  const json one =
      diagnosed({folder.write("b.json", made_trace({.steps = 1, .is_marked = false}))});
  EXPECT_EQ(one["per_rank"][0]["step_basis"], "whole");
}

TEST(DiagnoseCli, RanksOfSeveralFilesMustBeKnown) {
  const Folder folder;
  const std::string one = folder.write("left.json", made_trace({.says_rank = false}));
  const std::string other = folder.write("right.json", made_trace({.says_rank = false}));
  EXPECT_EQ(run_sextant({"diagnose", one}).exit_code, 0);
  const Ran ran = run_sextant({"diagnose", one, other});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("RANK=FILE"), std::string::npos) << ran.err;
  const json told = diagnosed({"0=" + one, "5=" + other});
  ASSERT_EQ(told["per_rank"].size(), 2U);
  EXPECT_EQ(told["per_rank"][1]["rank"], 5);
  // A name that says it is enough.
  const std::string named = folder.write("rank7.json", made_trace({.says_rank = false}));
  EXPECT_EQ(diagnosed({"0=" + one, named})["per_rank"][1]["rank"], 7);
}

TEST(DiagnoseCli, ARankIsInOneFileOnly) {
  const Folder folder;
  const std::string one = folder.write("a.json", made_trace({.rank = 3, .world = 8}));
  const std::string other = folder.write("b.json", made_trace({.rank = 3, .world = 8}));
  const Ran ran = run_sextant({"diagnose", one, other});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("rank 3 is in"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("b.json"), std::string::npos) << ran.err;
  // What the message advises helps.
  const json told = diagnosed({one, "4=" + other});
  ASSERT_EQ(told["per_rank"].size(), 2U);
  EXPECT_EQ(told["per_rank"][1]["rank"], 4);
}

TEST(DiagnoseCli, WhatIsNotReadIsRefusedOrCounted) {
  const Folder folder;
  const std::string good = folder.write("rank0.json", made_trace({}));
  const std::string empty = folder.write("rank1.json", "");
  const Ran alone = run_sextant({"diagnose", empty});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_NE(alone.err.find("is empty"), std::string::npos) << alone.err;
  const json both = diagnosed({good, empty});
  ASSERT_EQ(both["unread"].size(), 1U);
  EXPECT_NE(both["unread"][0]["what"].get<std::string>().find("is empty"), std::string::npos);
  EXPECT_NE(both["unread"][0]["file"].get<std::string>().find("rank1.json"), std::string::npos);
  EXPECT_EQ(run_sextant({"diagnose", folder.path().string() + "/none.json"}).exit_code, 2);
  EXPECT_EQ(run_sextant({"diagnose", folder.path().string() + "/x*.json"}).exit_code, 2);
  EXPECT_EQ(run_sextant({"diagnose"}).exit_code, 2);
}

TEST(DiagnoseCli, ATraceThatWasCutIsReadUpToThere) {
  const Folder folder;
  const std::string whole = made_trace({.steps = 8});
  const std::string file = folder.write("cut.json", whole.substr(0, whole.size() * 3 / 4));
  const json answer = diagnosed({file});
  EXPECT_GE(answer["steps"].get<int>(), 2);
  ASSERT_FALSE(answer["unread"].empty());
}

// A row of one's own goes before the program's: here a product of 4 ms becomes an exchange.
TEST(DiagnoseCli, NamesOfOnesOwnAreRecognised) {
  const Folder folder;
  const std::string file = folder.write("a.json", made_trace({.world = 2}));
  const std::string header = "pattern,says,value,source\n";
  const std::string names =
      folder.write("ours.csv", header +
                                   "ampere_sgemm*,kind,communication,our library\n"
                                   "ampere_sgemm*,op,all_gather,our library\n");
  EXPECT_DOUBLE_EQ(diagnosed({file})["communication_s"].get<double>(), 0.002);
  const json told = diagnosed({file, "--names", names});
  EXPECT_DOUBLE_EQ(told["communication_s"].get<double>(), 0.006);
  EXPECT_EQ(told["collectives"][0]["collective"], "all_gather");
  const Ran wrong =
      run_sextant({"diagnose", file, "--names", folder.write("wrong.csv", header + "a,b,c,d\n")});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("wrong.csv:2"), std::string::npos) << wrong.err;
}

TEST(DiagnoseCli, TheDeviceCanBeSaid) {
  const Folder folder;
  const std::string file = folder.write("a.json", made_trace({.device = "Some Accelerator"}));
  EXPECT_TRUE(diagnosed({file})["assumed"].empty());
  EXPECT_EQ(run_sextant({"diagnose", file, "--device", "h200"}).exit_code, 0);
  const Ran wrong = run_sextant({"diagnose", file, "--device", "h2000"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("h200"), std::string::npos) << wrong.err;
}

TEST(DiagnoseCli, AnAnswerIsTheSameTwiceAndInEveryForm) {
  const Folder folder;
  write_ranks(folder, 4);
  for (const char* form : {"table", "json", "md", "csv"}) {
    const std::vector<std::string> words{"diagnose", folder.path().string(), "-o", form};
    const Ran first = run_sextant(words);
    EXPECT_EQ(first.exit_code, 0) << first.err;
    EXPECT_FALSE(first.out.empty());
    EXPECT_EQ(run_sextant(words).out, first.out);
  }
}

// Keys of docs/interface.md.
TEST(DiagnoseCli, FindingsAreThereOrSaidToBeNone) {
  const Folder folder;
  const std::string file = folder.write("a.json", made_trace({.world = 2}));
  const json answer = diagnosed({file});
  for (const char* key : {"findings", "abstained", "asked", "gain_ceiling_total", "fail_on_met"}) {
    EXPECT_TRUE(answer.contains(key)) << key;
  }
  EXPECT_FALSE(answer["asked"].empty() && answer["abstained"].empty());
  for (const json& finding : answer["findings"]) {
    for (const char* key : {"rule", "title", "cause", "ranks", "seconds_per_step", "gain_ceiling",
                            "status", "evidence", "advice", "explained_by"}) {
      EXPECT_TRUE(finding.contains(key)) << key;
    }
  }
  const Ran ran = run_sextant({"diagnose", file});
  EXPECT_NE(ran.out.find("\nfinds "), std::string::npos) << ran.out;
  EXPECT_LT(ran.out.find("\nfinds "), ran.out.find("where the step goes"));
}

// Whether one holds is diagnose/gate_test's; here what a shell sees of it.
TEST(DiagnoseCli, FailOnIsARuleOrAGain) {
  const Folder folder;
  const std::string file = folder.write("a.json", made_trace({.world = 2}));
  EXPECT_EQ(run_sextant({"diagnose", file, "--fail-on", "gain>10000%"}).exit_code, 0);
  const Ran ran = run_sextant({"diagnose", file, "--fail-on", "input-bound,gain>1000"});
  EXPECT_EQ(ran.exit_code,
            ran.out.find("--fail-on is met: input-bound is found") != std::string::npos ? 1 : 0)
      << ran.out;
  const Ran unknown = run_sextant({"diagnose", file, "--fail-on", "input-bond"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("did you mean input-bound?"), std::string::npos) << unknown.err;
  EXPECT_NE(unknown.err.find("--fail-on"), std::string::npos) << unknown.err;
}

// Perfetto finds an interval where the profile has it: the file says 1010 ms for the second step.
TEST(DiagnoseCli, TheAnnotatedTimelineHasTheProfilesTimes) {
  const Folder folder;
  const std::string file = folder.write("a.json", made_trace({.world = 2}));
  const std::string out = (folder.path() / "annotated.json").string();
  const Ran ran = run_sextant({"diagnose", file, "--timeline", out});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const json trace = json::parse(content(out));
  std::set<std::string> names;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") {
      continue;
    }
    names.insert(event["name"].get<std::string>());
    if (event["name"] == "ampere_sgemm_128x64_nn") {
      const double at_us = event["ts"].get<double>();
      EXPECT_NEAR(std::fmod(at_us, 10'000.0), 200.0, 1e-3) << at_us;
      EXPECT_GE(at_us, 1'000'000.0);
    }
  }
  EXPECT_TRUE(names.contains("ampere_sgemm_128x64_nn"));
  EXPECT_TRUE(names.contains("step 4"));
  // It is a profile like any other.
  EXPECT_EQ(run_sextant({"diagnose", out}).exit_code, 0);
}

TEST(DiagnoseCli, AReportIsOneFile) {
  const Folder folder;
  const std::string file =
      folder.write("a.json", made_trace({.device = "<script>alert(1)</script>"}));
  const std::string out = (folder.path() / "report.html").string();
  const Ran ran = run_sextant({"diagnose", file, "--report", out});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const std::string html = content(out);
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;"), std::string::npos);
  for (const char* loads : {"src=", "@import", "url("}) {
    EXPECT_EQ(html.find(loads), std::string::npos) << loads;
  }
  // The same profile, the same bytes.
  ASSERT_EQ(run_sextant({"diagnose", file, "--report", out + "2"}).exit_code, 0);
  EXPECT_EQ(content(out + "2"), html);
  EXPECT_EQ(run_sextant({"diff", file, file, "--report", out}).exit_code, 0);
  EXPECT_NE(content(out).find("the same"), std::string::npos);
}

TEST(DiagnoseCli, ARuleOfADiagnosisIsExplained) {
  const Ran ran = run_sextant({"explain", "input-bound"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* said : {"devices wait for data", "asks for: ", "--num-workers 4", "https://"}) {
    EXPECT_NE(ran.out.find(said), std::string::npos) << said << "\n" << ran.out;
  }
  const json answer = json::parse(run_sextant({"explain", "input-bound", "--json"}).out);
  EXPECT_EQ(answer["tree"]["id"], "input-bound");
  EXPECT_FALSE(answer["tree"]["advice"].empty());
  EXPECT_FALSE(json::parse(run_sextant({"explain", "--json"}).out)["diagnosis_rules"].empty());
}

TEST(DiagnoseCli, HtasTablesAreInItsUnits) {
  const Folder folder;
  const json answer =
      diagnosed({folder.write("a.json", made_trace({.world = 2})), "--hta-compatible"});
  EXPECT_EQ(answer["schema"], "sextant.diagnose-hta/1");
  // Four of five steps, 7 ms of work each and 3 ms between them.
  const json& temporal = answer["temporal_breakdown"][0];
  EXPECT_EQ(temporal["kernel_time(us)"], 37000);
  EXPECT_EQ(temporal["compute_time(us)"], 20000);
  EXPECT_EQ(temporal["non_compute_time(us)"], 8000);
  EXPECT_EQ(temporal["idle_time(us)"], 9000);
  EXPECT_DOUBLE_EQ(temporal["idle_time_pctg"].get<double>(), 24.32);
  EXPECT_DOUBLE_EQ(answer["comm_comp_overlap"][0]["comp_comm_overlap_pctg"].get<double>(), 0.0);
  EXPECT_EQ(answer["kernel_launch_stats"][0]["rows"], 12);
}

// A predicted step is read like a measured one.
TEST(DiagnoseCli, APredictedTimelineIsRead) {
  const Folder folder;
  const std::string file = (folder.path() / "step.json").string();
  const Ran estimate = run_sextant({"estimate", "llama-3.1-8b", "--on", "16xh100-sxm", "--layout",
                                    "tp=4,pp=2", "--gbs", "16", "--timeline", file, "--json"});
  ASSERT_EQ(estimate.exit_code, 0) << estimate.err;
  const json answer = diagnosed({file});
  EXPECT_NEAR(answer["step_time_s"].get<double>(),
              json::parse(estimate.out)["step_time_s"].get<double>(),
              0.02 * answer["step_time_s"].get<double>());
}

TEST(DiagnoseCli, SixtyFourRanksAreOneAnswer) {
  const Folder folder;
  write_ranks(folder, 64);
  const json answer = diagnosed({folder.path().string()});
  EXPECT_EQ(answer["ranks"], 64);
  EXPECT_EQ(answer["steps"], 64 * 3);
  // 63 ranks compute 5 ms, one 6.5.
  EXPECT_NEAR(answer["breakdown"]["compute_s"].get<double>(), (63 * 5e-3 + 6.5e-3) / 64, 1e-12);
}

}  // namespace
}  // namespace sextant::tests
