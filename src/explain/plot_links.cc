#include "explain/plot_links.h"

#include <fmt/format.h>

#include "base/text.h"
#include "explain/drawing.h"
#include "explain/style.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

constexpr std::string_view kHeading = "## Plots\n";
constexpr const char* kCoverage = "runs-coverage.svg";

bool stays(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("/._-~").find(c) != std::string_view::npos;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string link(std::string_view folder, const std::string& file) {
  return fmt::format("[{}]({}/{})", file, folder, file);
}

std::string bandwidths_text(const std::vector<BandwidthPlot>& plots, std::string_view folder,
                            const std::string& heading) {
  if (plots.empty()) {
    return {};
  }
  Table table{{{"class of system"}, {"runs", true}, {"bandwidth by size"}}, {}};
  for (const BandwidthPlot& plot : plots) {
    table.rows.push_back(
        {plot.title, std::to_string(plot.series.size()), link(folder, plot.name + ".svg")});
  }
  return fmt::format(
      "{}\nEffective bandwidth by size, measured and predicted: of each class of system and "
      "operation the run with the most rows.\n\n{}",
      heading, to_text(table, Style{Format::kMarkdown, false}));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> plot_files(const LedgerPlots& plots) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const ValidationPlot& plot : plots.scores) {
    files.emplace_back(plot.name + ".svg", to_svg(scatter_drawing(plot)));
    files.emplace_back(plot.name + "-error.svg", to_svg(error_drawing(plot)));
  }
  for (const BandwidthPlot& plot : plots.bandwidths) {
    files.emplace_back(plot.name + ".svg", to_svg(bandwidth_drawing(plot)));
  }
  if (!plots.coverage.empty()) {
    files.emplace_back(kCoverage, to_svg(coverage_drawing(plots.coverage)));
  }
  return files;
}

std::string plots_section(const LedgerPlots& plots, std::string_view folder) {
  if (plots.scores.empty()) {
    return bandwidths_text(plots.bandwidths, folder, std::string(kHeading));
  }
  Table table{{{"what"},
               {"rows", true},
               {"mean error", true},
               {"predicted against measured"},
               {"error by size"}},
              {}};
  for (const ValidationPlot& plot : plots.scores) {
    table.rows.push_back(
        {fmt::format("{}: {}", plot.title, plot.quantity), with_thousands(plot.rows()),
         fmt::format("{:.1f} %", plot.mean_error() * 100.0), link(folder, plot.name + ".svg"),
         link(folder, plot.name + "-error.svg")});
  }
  const std::string text =
      fmt::format("{}\nScored rows only; bands are within 10 % and 25 %.\n\n{}", kHeading,
                  to_text(table, Style{Format::kMarkdown, false}));
  const std::string coverage =
      plots.coverage.empty()
          ? ""
          : fmt::format("\nShare of measured steps inside the predicted interval, by source: {}.\n",
                        link(folder, kCoverage));
  return text + coverage + bandwidths_text(plots.bandwidths, folder, "");
}

std::string folder_link(const std::filesystem::path& path) {
  std::string text;
  for (const char c : path.generic_string()) {
    if (stays(c)) {
      text += c;
    } else {
      text += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return text;
}

std::optional<std::string> linked_folder(std::string_view ledger) {
  const std::size_t heading = ledger.find(kHeading);
  if (heading == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view section = ledger.substr(heading);
  const std::size_t open = section.find("](");
  const std::size_t close = section.find(')', open);
  if (open == std::string_view::npos || close == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view target = section.substr(open + 2, close - open - 2);
  const std::size_t slash = target.rfind('/');
  return slash == std::string_view::npos ? std::nullopt
                                         : std::optional(std::string(target.substr(0, slash)));
}

std::filesystem::path path_of_link(std::string_view link) {
  std::string text;
  for (std::size_t at = 0; at < link.size(); ++at) {
    const int high = link[at] == '%' && at + 2 < link.size() ? digit_of(link[at + 1]) : -1;
    const int low = high >= 0 ? digit_of(link[at + 2]) : -1;
    if (low >= 0) {
      text += static_cast<char>(high * 16 + low);
      at += 2;
    } else {
      text += link[at];
    }
  }
  return text;
}

}  // namespace sextant::explain
