#include "explain/report.h"

#include <gtest/gtest.h>

#include "explain/finding_testing.h"

namespace sextant::explain {
namespace {

constexpr std::string_view kHostile =
    "</td><script>alert(1)</script><img src=x onerror=alert(1)>\"'";

bool report_has(const std::string& html, std::string_view what) {
  return html.find(what) != std::string::npos;
}

// Everything that a profile names.
DiagnoseAnswer hostile_diagnosis() {
  const std::string name(kHostile);
  diagnose::Finding finding = made_finding("made-wait", 20_ms);
  finding.cause = name;
  finding.evidence.front().what = name;
  finding.explained_by = name;
  DiagnoseAnswer answer = made_diagnosis({finding, made_finding(name, 1_ms)});
  answer.ranks.front().summary.device = name;
  answer.ranks.push_back(answer.ranks.front());
  answer.ranks.back().summary.rank = RankId{3};
  answer.files.front().name = name;
  answer.provenance.inputs = {{name, name}};
  answer.kernels.push_back({.name = name});
  answer.operators.push_back({.name = name, .category = name, .module = name});
  answer.rooflines.emplace_back();
  answer.ranges.push_back({.name = name});
  answer.collectives.push_back(
      {.op = {}, .word = name, .ranks = {}, .size_class = {}, .time = {}, .bytes = {}});
  answer.unread.push_back({name, name, 2});
  answer.assumed.push_back({name, name, name, name});
  answer.findings->diagnosis.abstentions = {{name, name}};
  answer.findings->met = {name};
  return answer;
}

void expect_harmless(const std::string& html) {
  EXPECT_FALSE(report_has(html, "<script"));
  EXPECT_FALSE(report_has(html, "<img"));
  EXPECT_TRUE(report_has(html, "&lt;script&gt;"));
  EXPECT_TRUE(report_has(html, "default-src 'none'"));
}

TEST(Report, NamesOfProfilesAreNoMarkup) {
  expect_harmless(report_html(hostile_diagnosis(), "{}"));
}

TEST(Report, NamesOfComparedProfilesAreNoMarkup) {
  DiffAnswer answer;
  answer.a = hostile_diagnosis();
  answer.b = hostile_diagnosis();
  const std::string name(kHostile);
  answer.difference.step_a = 1_s;
  answer.difference.step_b = 2_s;
  answer.difference.kernels = {{.name = name, .detail = name, .a = 1_s, .b = 2_s}};
  answer.difference.makeup = {.of = "kernels", .changes = answer.difference.kernels, .needed = 1};
  answer.difference.findings = {{.rule = name, .a = 1_s, .b = 2_s}};
  answer.met = {name};
  expect_harmless(report_html(answer));
}

TEST(Report, SaysWhatTheDiagnosisSays) {
  const std::string html = report_html(made_diagnosis({made_finding("made-wait", 20_ms)}), "{}");
  for (const char* said : {"1 finding: up to 20 ms of a step of 100 ms could go",
                           "devices wait for data", "Rank 2 waits 20 ms a step for its data.",
                           "gain up to <b>25.0 %</b>", "rank 2", "DataLoader.next", "5000.250",
                           "num_workers", "download=", "data:application/json;base64,"}) {
    EXPECT_TRUE(report_has(html, said)) << said;
  }
}

TEST(Report, AHealthyRunIsSaidToBeOne) {
  const std::string html = report_html(made_diagnosis({}));
  EXPECT_TRUE(report_has(html, "None of the rules asked holds."));
  EXPECT_FALSE(report_has(html, "download="));
}

// A page of a thousand ranks is no larger than one that is read.
TEST(Report, ManyRanksAreAFewRows) {
  DiagnoseAnswer answer = made_diagnosis({});
  for (std::int64_t rank = 3; rank < 1003; ++rank) {
    answer.ranks.push_back(answer.ranks.front());
    answer.ranks.back().summary.rank = RankId{rank};
  }
  const std::string html = report_html(answer);
  EXPECT_TRUE(report_has(html, "64 of 1001"));
  EXPECT_LT(html.size(), 100'000U);
}

}  // namespace
}  // namespace sextant::explain
