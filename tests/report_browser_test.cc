// Reports in a real browser: they show something, say nothing on the console and ask for nothing.
#include <string>

#include <gtest/gtest.h>

#include "browser.h"
#include "explain/finding_testing.h"
#include "explain/report.h"

namespace sextant::tests {
namespace {

using explain::DiagnoseAnswer;

constexpr std::string_view kScript =
    "</script><script>console.error('ran')</script><img src=http://127.0.0.1:9/a.png>";

DiagnoseAnswer shown_diagnosis() {
  diagnose::Finding data = explain::made_finding("made-wait", 20_ms);
  data.evidence.push_back({RankId{5}, {30'000'000, 31'000'000}, std::string(kScript)});
  diagnose::Finding other = explain::made_finding("late-rank", 6_ms);
  other.status = diagnose::Status::kInferred;
  other.cause = "Rank 5 comes 6 ms late to the all-reduce of every step: its products take longer.";
  other.ranks = {RankId{5}};
  diagnose::Finding explained = explain::made_finding("exposed-dp", 4_ms);
  explained.status = diagnose::Status::kUnverified;
  explained.explained_by = "late-rank";
  DiagnoseAnswer answer = explain::made_diagnosis({data, other, explained});
  answer.ranks.front().summary.device = "NVIDIA H100 80GB HBM3";
  for (std::int64_t rank = 3; rank < 10; ++rank) {
    answer.ranks.push_back(answer.ranks.front());
    explain::DiagnosedRank& made = answer.ranks.back();
    made.summary.rank = RankId{rank};
    made.totals.time.compute_ns += rank == 5 ? 6'000'000 : 0;
    made.totals.time.exposed_communication_ns -= rank == 5 ? 6'000'000 : 0;
  }
  answer.world = 16;
  answer.kernels.push_back({.name = std::string(kScript)});
  answer.kernels.front().time.add(2'000'000);
  answer.ranges.push_back({.name = "aten::mm", .count = 4, .work_ns = 2'000'000});
  answer.findings->diagnosis.abstentions = {{"python-gc", "stacks"}};
  answer.unread.push_back({"rank4.json", "truncated: the last 1.2 MB", 1});
  return answer;
}

explain::DiffAnswer shown_difference() {
  explain::DiffAnswer answer;
  answer.a = shown_diagnosis();
  answer.b = shown_diagnosis();
  const auto run = [](const DiagnoseAnswer& of) {
    return diagnose::ComparedRun{.totals = of.totals,
                                 .kernels = of.kernels,
                                 .operators = of.operators,
                                 .collectives = of.collectives,
                                 .ranges = of.ranges,
                                 .signals = of.signals,
                                 .diagnosis = &of.findings->diagnosis};
  };
  answer.b.totals.time.compute_ns += 3'000'000;
  answer.b.kernels.front().time.add(3'000'000);
  answer.difference = diagnose::difference_of(run(answer.a), run(answer.b));
  return answer;
}

void expect_shown(const Seen& seen, const Window& window) {
  EXPECT_EQ(seen.exit_code, 0) << seen.log;
  EXPECT_TRUE(seen.console.empty()) << seen.console.front();
  EXPECT_TRUE(seen.requests.empty()) << seen.requests.front();
  ASSERT_TRUE(seen.picture) << seen.log;
  EXPECT_EQ(seen.picture->width, window.width);
  EXPECT_EQ(seen.picture->height, window.height);
  // Text alone has some dozens of shades; a page that failed has one colour.
  EXPECT_GT(seen.picture->colors, 50U);
}

class ReportInABrowser : public testing::Test {
 protected:
  void SetUp() override {
    if (!chromium()) {
      GTEST_SKIP() << "no chromium (scripts/packages.sh names the package)";
    }
  }
};

// What the other tests rely on: a page that does what a report must not is found out.
TEST_F(ReportInABrowser, APageThatLoadsAndFailsIsNoticed) {
  const Seen seen = seen_page(
      "<!DOCTYPE html><title>bad</title><img hidden src=\"http://127.0.0.1:9/a.png\">"
      "<script>console.error('ran')</script>",
      {.width = 300, .height = 200}, "bad");
  EXPECT_EQ(seen.exit_code, 0) << seen.log;
  EXPECT_EQ(seen.console.size(), 1U) << seen.log;
  ASSERT_FALSE(seen.requests.empty());
  EXPECT_EQ(seen.requests.front(), "http://127.0.0.1:9/a.png");
  ASSERT_TRUE(seen.picture);
  EXPECT_EQ(seen.picture->colors, 1U);
}

TEST_F(ReportInABrowser, ADiagnosisIsShown) {
  const std::string html =
      explain::report_html(shown_diagnosis(), R"({"traceEvents": [{"ph": "M", "pid": 0}]})");
  const Window window{.width = 1280, .height = 2600};
  expect_shown(seen_page(html, window, "diagnosis"), window);
}

TEST_F(ReportInABrowser, ADiagnosisIsShownInTheDarkAndOnAPhone) {
  const Window window{.width = 500, .height = 3000, .dark = true};
  expect_shown(seen_page(explain::report_html(shown_diagnosis()), window, "phone"), window);
}

TEST_F(ReportInABrowser, ADifferenceIsShown) {
  const Window window{.width = 1280, .height = 1600};
  expect_shown(seen_page(explain::report_html(shown_difference()), window, "difference"), window);
}

}  // namespace
}  // namespace sextant::tests
