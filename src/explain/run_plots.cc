#include "explain/run_plots.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/plot_colors.h"
#include "measured/run_targets.h"

namespace sextant::explain {
namespace {

struct CoverageCanvas {
  static constexpr double kLeft = 190.0;
  static constexpr double kTop = 60.0;
  static constexpr double kWide = 500.0;  // of 100 %
  static constexpr double kLine = 20.0;
  static constexpr int kWidth = 844;
};
constexpr Color kFewColor{170, 170, 170};

double coverage_x(double share) {
  return CoverageCanvas::kLeft + CoverageCanvas::kWide * share;
}

}  // namespace

ValidationPlot runs_by_device(const std::vector<measured::Row>& rows,
                              const measured::ValidationReport& report) {
  std::map<std::string, PlotSeries> devices;
  for (std::size_t i = 0; i < rows.size() && i < report.rows.size(); ++i) {
    const auto* run = std::get_if<measured::RunSubject>(&rows[i].subject);
    const measured::ValidatedRow& scored = report.rows[i];
    if (run == nullptr || !run->job || !scored.predicted_value || !scored.error ||
        rows[i].trust == measured::Trust::kC || rows[i].quantity != "step_time_s") {
      continue;
    }
    PlotSeries& series = devices[run->job->cluster.device.id];
    series.name = run->job->cluster.device.id;
    series.points.push_back({scored.measured_value, *scored.predicted_value, *scored.error});
  }
  ValidationPlot plot{"runs-by-device", "Runs by device", "step time", "s", {}};
  for (auto& [device, series] : devices) {
    plot.series.push_back(std::move(series));
  }
  return plot;
}

Drawing coverage_drawing(const std::vector<CoverageBar>& bars) {
  Drawing drawing;
  drawing.width = CoverageCanvas::kWidth;
  const double high = CoverageCanvas::kLine * static_cast<double>(bars.size());
  drawing.height = static_cast<int>(CoverageCanvas::kTop + high + 48.0);
  drawing.title = "Runs: share of measured steps inside the predicted interval";
  drawing.labels.push_back({12.0, 24.0, drawing.title, Label::Anchor::kStart, true});
  drawing.labels.push_back(
      {12.0, 46.0,
       fmt::format("band: {:.0f} to {:.0f} %, asked of sources with {} rows and more",
                   100.0 * measured::kCoverageLeast, 100.0 * measured::kCoverageMost,
                   measured::kCoverageRows)});
  drawing.polygons.push_back(
      polygon_of({coverage_x(measured::kCoverageLeast), CoverageCanvas::kTop,
                  coverage_x(measured::kCoverageMost) - coverage_x(measured::kCoverageLeast), high,
                  kBandColor}));
  for (int percent = 0; percent <= 100; percent += 20) {
    const double x = coverage_x(percent / 100.0);
    drawing.polygons.push_back(polygon_of({x - 0.5, CoverageCanvas::kTop, 1.0, high, kGridColor}));
    drawing.labels.push_back({x, CoverageCanvas::kTop + high + 18.0, fmt::format("{} %", percent),
                              Label::Anchor::kMiddle});
  }
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double y = CoverageCanvas::kTop + CoverageCanvas::kLine * static_cast<double>(i);
    const bool asked = bars[i].rows >= measured::kCoverageRows;
    drawing.rectangles.push_back({CoverageCanvas::kLeft, y + 6.0,
                                  CoverageCanvas::kWide * bars[i].share, 8.0,
                                  asked ? category_color(0) : kFewColor});
    drawing.labels.push_back(
        {CoverageCanvas::kLeft - 8.0, y + 14.0, printable(bars[i].name, 24), Label::Anchor::kEnd});
    drawing.labels.push_back(
        {coverage_x(1.0) + 12.0, y + 14.0,
         fmt::format("{:.1f} % of {} rows", 100.0 * bars[i].share, with_thousands(bars[i].rows))});
  }
  return drawing;
}

}  // namespace sextant::explain
