#include "explain/run_section.h"

#include <gtest/gtest.h>

#include "explain/plot_links.h"
#include "explain/run_plots.h"

namespace sextant::explain {
namespace {

measured::RunScore score(const char* name, std::int64_t rows, double mean, double coverage) {
  return {.name = name,
          .rows = rows,
          .refused = 1,
          .mean = mean,
          .median = mean / 2.0,
          .p90 = mean * 2.0,
          .bias = -mean,
          .coverage = coverage};
}

measured::RunScores scores() {
  measured::RunScores all;
  all.all = score("all", 60, 0.1, 0.8);
  all.stated = 100;
  all.stated_predicted = 96;
  all.targets = {{score("bloom", 50, 0.10, 0.8), 0.16}, {score("nemo, dense", 10, 0.2, 0.8), 0.11}};
  all.sources = {score("bloom", 50, 0.1, 0.9), score("few", 3, 0.1, 0.2)};
  all.devices = {score("h100-sxm", 50, 0.1, 0.9)};
  all.assumed = {{"vocabulary #", 7, 0.1, 0.2}, {"rare", 2, 0.1, std::nullopt}};
  all.scaling = {{"bloom",
                  "a job",
                  true,
                  {{8, 1, 1.0, 1.0}, {16, 1, 1.1, 1.0}, {32, 1, 1.2, 1.0}, {64, 1, 1.3, 1.0}}}};
  measured::ValidationSummary ranked;
  ranked.source = "bloom";
  ranked.groups = 2;
  ranked.kendall = 0.75;
  ranked.top1_regret = 0.04;
  all.rankings = {ranked};
  all.top3 = {{"bloom", 0.5}};
  return all;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RunSection, NothingWithoutScoredRuns) {
  EXPECT_EQ(run_section({}, {}), "");
}

TEST(RunSection, TargetsStandBesideWhatIsReached) {
  const std::string text = run_section(scores(), {});
  EXPECT_TRUE(text.starts_with("## Steps of runs\n"));
  EXPECT_TRUE(has(text, "96.0 % (must hold: 95 %, yes)"));
  EXPECT_TRUE(has(text, "| bloom | 50 of 51 | 10.0 % | 16 % | yes |"));
  EXPECT_TRUE(has(text, "| nemo, dense | 10 of 11 | 20.0 % | 11 % | **no** |"));
  EXPECT_TRUE(has(text, "| all: median | 60 of 61 | 5.0 % | 7 % | yes |"));
}

// 90 % is beyond 88; a source of three rows is shown and not asked.
TEST(RunSection, CoverageIsAskedOfLargeSources) {
  RunChecks checks;
  checks.coverage = {{"bloom", 50, 0.9, 0.77}};
  const std::string text = run_section(scores(), checks);
  EXPECT_TRUE(has(text, "| bloom | 50 | 90.0 % | 77.0 % | **no** |"));
  EXPECT_TRUE(has(text, "| few | 3 | 20.0 % | - | - |"));
}

// Growth 10, 20, 30 % of which nothing is predicted: 20 points.
TEST(RunSection, ScalingAndRanking) {
  const std::string text = run_section(scores(), {});
  EXPECT_TRUE(has(text,
                  "| bloom | a job | weak | 8 16 32 64 | +10.0 +20.0 +30.0 | +0.0 +0.0 +0.0 | "
                  "20.0 |"))
      << text;
  EXPECT_TRUE(has(text, "| source | groups | Kendall | regret | best in predicted top 3 |"));
  EXPECT_TRUE(has(text, "| bloom | 2 | 0.75 | 4.0 % | 50.0 % |"));
  EXPECT_TRUE(has(text, "| mean over sources |  | 0.75 | 4.0 % | 50.0 % |"));
  EXPECT_TRUE(has(text, "0.7 (yes) and 3 % (**no**)"));
}

TEST(RunSection, HalvesShowBothFits) {
  RunChecks checks;
  checks.halves = {{100, 5, 0.10, 0.08, 0.10, 0.8, 0.75, {{"loop", "20 ms"}}},
                   {90, 4, 0.12, 0.10, 0.20, 0.8, 0.6, {{"loop", "12 ms"}}}};
  const std::string text = run_section(scores(), checks);
  EXPECT_TRUE(
      has(text, "| first | 5 | 100 | 10.0 % | 8.0 % | 10.0 % | 80.0 % | 75.0 % | 1.25 | yes |"));
  EXPECT_TRUE(has(text, "| 2.00 | **no** |"));
  EXPECT_TRUE(has(text, "| loop | 20 ms | 12 ms |"));
  EXPECT_FALSE(has(run_section(scores(), {}), "Systems left out"));
}

TEST(RunSection, RareFactsAreNotListed) {
  const std::string text = run_section(scores(), {});
  EXPECT_TRUE(has(text, "| vocabulary # | 7 | 10.0 % | 20.0 % |"));
  EXPECT_FALSE(has(text, "rare"));
}

TEST(RunPlots, CoverageIsABarASource) {
  const Drawing drawing = coverage_drawing({{"bloom", 81, 0.8}, {"few", 3, 1.0}});
  ASSERT_EQ(drawing.rectangles.size(), 2U);
  EXPECT_NEAR(drawing.rectangles[0].width, drawing.rectangles[1].width * 0.8, 1e-9);
  LedgerPlots plots;
  plots.coverage = {{"bloom", 81, 0.8}};
  ASSERT_EQ(plot_files(plots).size(), 1U);
  EXPECT_EQ(plot_files(plots)[0].first, "runs-coverage.svg");
}

TEST(RunPlots, DevicesAreSeriesByName) {
  std::vector<measured::Row> rows(2);
  measured::ValidationReport report;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    describe::Job job;
    job.cluster.device.id = i == 0 ? "h100-sxm" : "a100-sxm-80g";
    rows[i].quantity = "step_time_s";
    rows[i].measured = 2.0;
    measured::RunSubject subject;
    subject.job = std::make_shared<const describe::Job>(std::move(job));
    rows[i].subject = std::move(subject);
  }
  report = measured::validate(rows, [](const measured::Row&) -> measured::Answer {
    return measured::Prediction{3.0, std::nullopt, {}};
  });
  const ValidationPlot plot = runs_by_device(rows, report);
  ASSERT_EQ(plot.series.size(), 2U);
  EXPECT_EQ(plot.series[0].name, "a100-sxm-80g");
  EXPECT_NEAR(plot.series[1].points[0].error, 0.5, 1e-12);
  rows[0].trust = measured::Trust::kC;
  EXPECT_EQ(runs_by_device(rows, report).series.size(), 1U);
}

}  // namespace
}  // namespace sextant::explain
