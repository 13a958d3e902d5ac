// The plots of the ledger as files and as links to them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/bandwidth_plot.h"
#include "explain/run_plots.h"
#include "explain/validation_plot.h"

namespace sextant::explain {

// All plots of a ledger.
struct LedgerPlots {
  std::vector<ValidationPlot> scores;
  std::vector<BandwidthPlot> bandwidths = {};
  std::vector<CoverageBar> coverage = {};  // of runs, by source
};

// Names and SVG of every plot: NAME.svg, then NAME-error.svg of scores; NAME.svg of bandwidths;
// runs-coverage.svg.
std::vector<std::pair<std::string, std::string>> plot_files(const LedgerPlots& plots);

// The ledger's section "Plots", with links into `folder` (as a link: folder_link's); "" of none.
std::string plots_section(const LedgerPlots& plots, std::string_view folder);

// A path as a link of Markdown: everything but letters, digits and "/._-~" as %XX.
std::string folder_link(const std::filesystem::path& path);

// The folder that a ledger's plots are linked from, as plots_section was given it; nothing where
// the ledger links none.
std::optional<std::string> linked_folder(std::string_view ledger);

// What folder_link made a link of.
std::filesystem::path path_of_link(std::string_view link);

}  // namespace sextant::explain
