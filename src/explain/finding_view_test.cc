#include "explain/finding_view.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "explain/finding_json.h"
#include "explain/finding_testing.h"
#include "explain/finding_words.h"

namespace sextant::explain {
namespace {

bool has_text(const std::string& text, std::string_view what) {
  return text.find(what) != std::string::npos;
}

TEST(FindingView, TheWorstHasItsCostCauseRanksAndFirstAdvice) {
  const DiagnoseAnswer answer = made_diagnosis({made_finding("made-wait", 20_ms)});
  const std::string text = to_text(answer, {});
  EXPECT_TRUE(has_text(text, "1  made-wait  20 ms a step, gain up to 25.0 % (rank 2, verified)"))
      << text;
  EXPECT_TRUE(has_text(text, "Rank 2 waits 20 ms a step for its data.")) << text;
  EXPECT_TRUE(
      has_text(text, "→ pytorch: DataLoader(num_workers=4). Load batches ahead, in processes of"))
      << text;
  EXPECT_LT(text.find("made-wait"), text.find("where the step goes"));
}

TEST(FindingView, AFrameworksOwnSettingIsShownFirst) {
  DiagnoseAnswer answer = made_diagnosis({made_finding("made-wait", 20_ms)});
  answer.findings->framework = "megatron-core";
  EXPECT_TRUE(has_text(to_text(answer, {}), "megatron-core: --num-workers 4"));
}

TEST(FindingView, VerboseHasEvidenceOnTheProfilesClockSourcesAndAbstentions) {
  DiagnoseAnswer answer = made_diagnosis({made_finding("made-wait", 20_ms)});
  answer.verbose = true;
  answer.ranks[0].summary.base_ns = 1'000'000;
  answer.findings->diagnosis.abstentions = {{"made-wait", "host operators"}};
  answer.findings->diagnosis.notes = {"clocks are aligned within 3 us"};
  const std::string text = to_text(answer, {});
  EXPECT_TRUE(has_text(text, "rank 2 at 4000.250 us for 7 ms: DataLoader.next")) << text;
  EXPECT_TRUE(has_text(text, "rests on: clocks are aligned within 3 us")) << text;
  EXPECT_TRUE(has_text(text, "https://pytorch.org/tutorials")) << text;
  EXPECT_TRUE(has_text(text, "megatron-core: --num-workers 4")) << text;
  EXPECT_TRUE(has_text(text, "not asked: made-wait needs host operators: PyTorch: profile("))
      << text;
}

TEST(FindingView, AHealthyTraceIsSaidToBeOne) {
  const DiagnoseAnswer answer = made_diagnosis({});
  const std::string rules = std::to_string(answer.findings->book.rules().size());
  const std::string text = to_text(answer, {});
  EXPECT_TRUE(has_text(text, "finds  none: " + rules + " of " + rules +
                                 " rules could be asked, and none of them holds"))
      << text;
}

TEST(FindingView, WhatAnotherExplainsIsSaidSo) {
  diagnose::Finding second = made_finding("made-wait", 5_ms);
  second.explained_by = "late-rank";
  const std::string text = to_text(made_diagnosis({second}), {});
  EXPECT_TRUE(has_text(text, "explained by late-rank")) << text;
  EXPECT_TRUE(has_text(text, "what they saw is nothing to mend")) << text;
}

// However much there is to say.
TEST(FindingView, TheFirstScreenIsOneScreen) {
  std::vector<diagnose::Finding> many(30, made_finding("made-wait", 2_ms));
  for (diagnose::Finding& finding : many) {
    finding.cause = std::string(90, 'x') + " " + std::string(90, 'y') + " " + std::string(90, 'z');
  }
  DiagnoseAnswer answer = made_diagnosis(many);
  answer.world = 8;
  for (int i = 0; i < 9; ++i) {
    answer.unread.push_back({"a.json", "loss " + std::to_string(i), 1});
    answer.assumed.push_back({"key", "value", "why", ""});
    answer.kernels.push_back({.name = "kernel" + std::to_string(i)});
    answer.operators.push_back(
        {.name = "operator" + std::to_string(i), .category = "", .module = ""});
    answer.rooflines.emplace_back();
    answer.collectives.emplace_back();
  }
  answer.findings->met = {"made-wait is found"};
  const std::string text = to_text(answer, {});
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 40) << text;
  EXPECT_TRUE(has_text(text, "25 more")) << text;
}

TEST(FindingView, JsonHasAllOfAFinding) {
  DiagnoseAnswer answer = made_diagnosis({made_finding("made-wait", 20_ms)});
  answer.findings->diagnosis.abstentions = {{"python-gc", "stacks"}};
  Json json;
  add_findings(json, answer);
  const Json& finding = json["findings"].at(0);
  EXPECT_EQ(finding["rule"], "made-wait");
  EXPECT_EQ(finding["title"], "devices wait for data");
  EXPECT_EQ(finding["ranks"], Json::array({2}));
  EXPECT_DOUBLE_EQ(finding["seconds_per_step"].get<double>(), 0.02);
  EXPECT_DOUBLE_EQ(finding["gain_ceiling"].get<double>(), 0.25);
  EXPECT_EQ(finding["status"], "verified");
  EXPECT_DOUBLE_EQ(finding["evidence"].at(0)["start_us"].get<double>(), 5000.25);
  EXPECT_DOUBLE_EQ(finding["evidence"].at(0)["end_us"].get<double>(), 12000.25);
  EXPECT_TRUE(finding["advice"].at(0)["settings"].contains("pytorch"));
  EXPECT_EQ(finding["explained_by"], nullptr);
  EXPECT_EQ(json["abstained"].at(0)["rule"], "python-gc");
  EXPECT_DOUBLE_EQ(json["gain_ceiling_total"].get<double>(), 0.25);
}

TEST(FindingView, ACauseIsASentence) {
  EXPECT_EQ(as_sentence("the device waits 3 ms"), "The device waits 3 ms.");
  EXPECT_EQ(as_sentence("Rank 2 waits."), "Rank 2 waits.");
  EXPECT_EQ(as_sentence(""), "");
}

TEST(FindingView, LinesBreakBetweenWords) {
  EXPECT_EQ(in_lines("one two three", "  ", 9), "  one two\n  three\n");
  EXPECT_EQ(in_lines("", "  "), "");
  EXPECT_EQ(in_lines("abcdefghijkl", "", 5), "abcdefghijkl\n");
}

}  // namespace
}  // namespace sextant::explain
