#include "explain/plot_links.h"

#include <gtest/gtest.h>

#include "explain/validation_view.h"

namespace sextant::explain {
namespace {

LedgerPlots two_plots() {
  return {{{"kernels", "Kernels", "time", "µs", {{"gemm", {{10.0, 11.0, 0.1}, {10.0, 9.0, -0.1}}}}},
           {"memory", "Memory", "peak", "GiB", {{"a", {{10.0, 10.5, 0.05}}}}}}};
}

TEST(PlotLinks, EveryPlotHasTwoFiles) {
  const auto files = plot_files(two_plots());
  ASSERT_EQ(files.size(), 4U);
  EXPECT_EQ(files[0].first, "kernels.svg");
  EXPECT_EQ(files[1].first, "kernels-error.svg");
  EXPECT_EQ(files[3].first, "memory-error.svg");
  EXPECT_TRUE(files[3].second.starts_with("<svg"));
}

TEST(PlotLinks, TheSectionLinksThemAndSaysHowFarOff) {
  const std::string section = plots_section(two_plots(), "validation");
  EXPECT_NE(section.find("[kernels.svg](validation/kernels.svg)"), std::string::npos);
  EXPECT_NE(section.find("[memory-error.svg](validation/memory-error.svg)"), std::string::npos);
  EXPECT_NE(section.find("10.0 %"), std::string::npos);
  EXPECT_EQ(plots_section({}, "validation"), "");
}

TEST(PlotLinks, BandwidthsAreOneFileEachAfterTheScores) {
  LedgerPlots plots = two_plots();
  plots.bandwidths = {{"bandwidth-tpu", "TPU", "bus bandwidth", {{"a", "", {}, {}}}}};
  const auto files = plot_files(plots);
  ASSERT_EQ(files.size(), 5U);
  EXPECT_EQ(files[4].first, "bandwidth-tpu.svg");
  const std::string section = plots_section(plots, "validation");
  EXPECT_NE(section.find("| TPU | 1 | [bandwidth-tpu.svg](validation/bandwidth-tpu.svg) |"),
            std::string::npos)
      << section;
  plots.scores.clear();
  EXPECT_EQ(linked_folder(plots_section(plots, "validation")), "validation");
}

TEST(PlotLinks, TheLedgerHoldsTheSectionAndGivesItsFolderBack) {
  const measured::ValidationReport report;
  EXPECT_EQ(linked_folder(ledger(report)), std::nullopt);
  const std::string text = ledger(report, plots_section(two_plots(), "../a%20b"));
  EXPECT_EQ(linked_folder(text), "../a%20b");
  EXPECT_LT(text.find("## By source"), text.find("## Plots"));
  EXPECT_LT(text.find("## Plots"), text.find("## Why rows are refused"));
  EXPECT_NE(text.find("--plots docs/validation`"), std::string::npos);
}

TEST(PlotLinks, PathsSurviveBeingLinks) {
  for (const char* path : {"validation", "../plots", "a b/(c)", "100%/é", "x%41", "."}) {
    const std::string link = folder_link(path);
    EXPECT_EQ(link.find_first_of(" ()"), std::string::npos) << path;
    EXPECT_EQ(path_of_link(link), std::filesystem::path(path));
  }
  EXPECT_EQ(path_of_link("50%"), std::filesystem::path("50%"));
  EXPECT_EQ(path_of_link("%zz%4"), std::filesystem::path("%zz%4"));
}

}  // namespace
}  // namespace sextant::explain
