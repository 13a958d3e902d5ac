// The picture of a sweep over a collective's factors.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "explain/collective_view.h"
#include "explain/plot_axis.h"
#include "explain/plot_colors.h"

namespace sextant::explain {
namespace {

struct BarCanvas {
  static constexpr int kWidth = 880;
  static constexpr int kHeight = 480;
  static constexpr double kLeft = 72.0;
  static constexpr double kTop = 60.0;
  static constexpr double kWide = 780.0;
  static constexpr double kHigh = 350.0;
  static constexpr double kBottom = kTop + kHigh;
};
constexpr Color kBarColor{76, 128, 181};
constexpr Color kIntervalColor{40, 40, 40};

// Leaves points of sizes between the line's smallest and largest.
void keep_inside(const std::vector<BandwidthPoint>& line, std::vector<BandwidthPoint>& points) {
  const auto is_smaller = [](const BandwidthPoint& a, const BandwidthPoint& b) {
    return a.bytes < b.bytes;
  };
  const auto [least, most] = std::minmax_element(line.begin(), line.end(), is_smaller);
  std::erase_if(points, [&, first = least, last = most](const BandwidthPoint& point) {
    return line.empty() || point.bytes < first->bytes || point.bytes > last->bytes;
  });
}

BandwidthPlot bytes_plot(const CollectiveSweepAnswer& answer) {
  BandwidthPlot plot{
      "bandwidth", fmt::format("{}, {}", answer.held, answer.cluster), "bus bandwidth", {}};
  BandwidthSeries line;
  line.name = "predicted";
  for (const CollectivePoint& point : answer.points) {
    if (point.estimate && point.estimate->bus) {
      line.predicted.push_back({point.estimate->bytes, *point.estimate->bus});
      line.detail =
          fmt::format("{}{}{}", point.estimate->links, point.estimate->network.empty() ? "" : ", ",
                      point.estimate->network);
    }
  }
  for (const BandwidthSeries& run : answer.measured.value_or(std::vector<BandwidthSeries>())) {
    plot.series.push_back(run);
    keep_inside(line.predicted, plot.series.back().measured);
  }
  plot.series.insert(plot.series.begin(), std::move(line));
  return plot;
}

// The end of a scale from zero: 1, 2, 4, 6 or 8 times a power of ten that nothing exceeds.
double bandwidth_scale_end(const CollectiveSweepAnswer& answer) {
  double most = 0.0;
  for (const CollectivePoint& point : answer.points) {
    if (point.estimate && point.estimate->bus) {
      const auto range = bus_range(*point.estimate);
      most = std::max(most, (range ? range->second : *point.estimate->bus) / 1_GBps);
    }
  }
  if (!(most > 0.0)) {
    return 1.0;
  }
  const double decade = std::pow(10.0, std::floor(std::log10(most)));
  for (const double step : {1.0, 2.0, 4.0, 6.0, 8.0}) {
    if (most <= step * decade) {
      return step * decade;
    }
  }
  return 10.0 * decade;
}

void add_bar_grid(double end, Drawing& drawing) {
  constexpr int kTicks = 4;
  for (int tick = 0; tick <= kTicks; ++tick) {
    const double y = std::round(BarCanvas::kBottom - BarCanvas::kHigh * tick / kTicks);
    drawing.polygons.push_back(
        polygon_of({BarCanvas::kLeft, y, BarCanvas::kWide, 1.0, kGridColor}));
    drawing.labels.push_back({BarCanvas::kLeft - 6.0, y + 4.0,
                              fmt::format("{:.4g}", end * tick / kTicks), Label::Anchor::kEnd});
  }
  drawing.rectangles.push_back(
      {BarCanvas::kLeft, BarCanvas::kTop, 1.0, BarCanvas::kHigh, kFrameColor});
  drawing.rectangles.push_back(
      {BarCanvas::kLeft, BarCanvas::kBottom, BarCanvas::kWide, 1.0, kFrameColor});
}

// A bar from zero to the bandwidth, over it a stroke as long as its interval.
void add_bar(const machine::CollectiveEstimate& estimate, double middle, double width, double end,
             Drawing& drawing) {
  const double rate = estimate.bus ? *estimate.bus / 1_GBps : 0.0;
  const double high = BarCanvas::kHigh * rate / end;
  drawing.rectangles.push_back(
      {middle - width / 2.0, BarCanvas::kBottom - high, width, high, kBarColor});
  double top = BarCanvas::kBottom - high;
  if (const auto range = bus_range(estimate)) {
    const double low = BarCanvas::kBottom - BarCanvas::kHigh * (range->first / 1_GBps) / end;
    top = BarCanvas::kBottom - BarCanvas::kHigh * (range->second / 1_GBps) / end;
    drawing.rectangles.push_back({middle - 0.75, top, 1.5, low - top, kIntervalColor});
  }
  drawing.labels.push_back(
      {middle, top - 6.0, fmt::format("{:.4g}", rate), Label::Anchor::kMiddle});
}

Drawing bars(const CollectiveSweepAnswer& answer) {
  Drawing drawing;
  drawing.width = BarCanvas::kWidth;
  drawing.height = BarCanvas::kHeight;
  drawing.title =
      fmt::format("{}, {}: bus bandwidth by {}", answer.held, answer.cluster, answer.factor);
  drawing.labels.push_back({BarCanvas::kLeft - 60.0, BarCanvas::kTop - 36.0, drawing.title,
                            Label::Anchor::kStart, true});
  drawing.labels.push_back(
      {BarCanvas::kLeft - 60.0, BarCanvas::kTop - 14.0, "bus bandwidth (GB/s), strokes: interval"});
  drawing.labels.push_back({BarCanvas::kLeft + BarCanvas::kWide / 2.0, BarCanvas::kBottom + 40.0,
                            answer.factor, Label::Anchor::kMiddle});
  const double end = bandwidth_scale_end(answer);
  add_bar_grid(end, drawing);
  const auto count = static_cast<double>(std::max<std::size_t>(answer.points.size(), 1));
  const double room = BarCanvas::kWide / count;
  for (std::size_t i = 0; i < answer.points.size(); ++i) {
    const CollectivePoint& point = answer.points[i];
    const double middle = std::round(BarCanvas::kLeft + room * (static_cast<double>(i) + 0.5));
    drawing.labels.push_back(
        {middle, BarCanvas::kBottom + 18.0, point.value, Label::Anchor::kMiddle});
    if (point.estimate) {
      add_bar(*point.estimate, middle, std::clamp(std::floor(room * 0.5), 1.0, 60.0), end, drawing);
    } else {
      drawing.labels.push_back(
          {middle, BarCanvas::kBottom - 6.0, "not possible", Label::Anchor::kMiddle});
    }
  }
  return drawing;
}

}  // namespace

Drawing to_drawing(const CollectiveSweepAnswer& answer) {
  return answer.factor == "bytes" ? bandwidth_drawing(bytes_plot(answer)) : bars(answer);
}

}  // namespace sextant::explain
