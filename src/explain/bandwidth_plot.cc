#include "explain/bandwidth_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/plot_colors.h"

namespace sextant::explain {
namespace {

struct RateCanvas {
  static constexpr int kWidth = 880;
  static constexpr int kHeight = 560;
  static constexpr double kLeft = 72.0;
  static constexpr double kTop = 60.0;
  static constexpr double kWide = 520.0;
  static constexpr double kHigh = 440.0;
  static constexpr double kRight = kLeft + kWide;
  static constexpr double kBottom = kTop + kHigh;
  static constexpr double kLegend = kRight + 24.0;
  static constexpr double kLineHeight = 17.0;
};

bool has_place(const BandwidthPoint& point) {
  return std::isfinite(point.bytes.base()) && std::isfinite(point.rate.base()) &&
         point.bytes > 0_B && point.rate > 0_GBps;
}

struct Axes {
  PlotAxis x;
  PlotAxis y;

  [[nodiscard]] Point at(const BandwidthPoint& point) const {
    return {RateCanvas::kLeft + RateCanvas::kWide * x.share(point.bytes / 1_B),
            RateCanvas::kBottom - RateCanvas::kHigh * y.share(point.rate / 1_GBps)};
  }
};

std::vector<BandwidthPoint> placed(const std::vector<BandwidthPoint>& points) {
  std::vector<BandwidthPoint> kept;
  std::copy_if(points.begin(), points.end(), std::back_inserter(kept), has_place);
  return kept;
}

// Axes that hold every point with a place.
Axes axes_of(const std::vector<BandwidthSeries>& series) {
  std::vector<Bytes> sizes;
  std::vector<BytesPerSecond> rates;
  for (const BandwidthSeries& one : series) {
    for (const auto* points : {&one.measured, &one.predicted}) {
      for (const BandwidthPoint& point : placed(*points)) {
        sizes.push_back(point.bytes);
        rates.push_back(point.rate);
      }
    }
  }
  if (sizes.empty()) {
    return {bytes_axis(1_KiB, 1_GiB), log_axis(1.0, 1.0)};
  }
  const auto [small, large] = std::minmax_element(sizes.begin(), sizes.end());
  const auto [slow, fast] = std::minmax_element(rates.begin(), rates.end());
  return {bytes_axis(*small, *large), log_axis(*slow / 1_GBps, *fast / 1_GBps)};
}

void add_bandwidth_grid(const Axes& axes, Drawing& drawing) {
  for (const Tick& tick : axes.x.ticks) {
    const double x = std::round(RateCanvas::kLeft + RateCanvas::kWide * axes.x.share(tick.value));
    drawing.polygons.push_back(
        polygon_of({x, RateCanvas::kTop, 1.0, RateCanvas::kHigh, kGridColor}));
    drawing.labels.push_back({x, RateCanvas::kBottom + 16.0, tick.text, Label::Anchor::kMiddle});
  }
  for (const Tick& tick : axes.y.ticks) {
    const double y = std::round(RateCanvas::kBottom - RateCanvas::kHigh * axes.y.share(tick.value));
    drawing.polygons.push_back(
        polygon_of({RateCanvas::kLeft, y, RateCanvas::kWide, 1.0, kGridColor}));
    drawing.labels.push_back({RateCanvas::kLeft - 6.0, y + 4.0, tick.text, Label::Anchor::kEnd});
  }
  for (const double at : {0.0, 1.0}) {
    drawing.rectangles.push_back({RateCanvas::kLeft + RateCanvas::kWide * at, RateCanvas::kTop, 1.0,
                                  RateCanvas::kHigh, kFrameColor});
    drawing.rectangles.push_back({RateCanvas::kLeft, RateCanvas::kTop + RateCanvas::kHigh * at,
                                  RateCanvas::kWide, 1.0, kFrameColor});
  }
}

// A stripe from one point to the other; points closer than a hair have none.
void add_stripe(const Point& from, const Point& to, const Color& color, Drawing& drawing) {
  constexpr double kHalf = 0.9;
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  if (length < 1e-6) {
    return;
  }
  const Point side{(from.y - to.y) / length * kHalf, (to.x - from.x) / length * kHalf};
  drawing.polygons.push_back({{{from.x + side.x, from.y + side.y},
                               {to.x + side.x, to.y + side.y},
                               {to.x - side.x, to.y - side.y},
                               {from.x - side.x, from.y - side.y}},
                              color});
}

void add_series(const BandwidthSeries& series, const Axes& axes, const Color& color,
                Drawing& drawing) {
  constexpr double kMarkerSide = 5.0;
  std::vector<BandwidthPoint> line = placed(series.predicted);
  std::sort(line.begin(), line.end(), [](const BandwidthPoint& a, const BandwidthPoint& b) {
    return std::tie(a.bytes, a.rate) < std::tie(b.bytes, b.rate);
  });
  for (std::size_t i = 1; i < line.size(); ++i) {
    add_stripe(axes.at(line[i - 1]), axes.at(line[i]), color, drawing);
  }
  for (const BandwidthPoint& point : placed(series.measured)) {
    drawing.rectangles.push_back(square_around(axes.at(point), kMarkerSide, color));
  }
}

void add_bandwidth_legend(const std::vector<BandwidthSeries>& series, Drawing& drawing) {
  constexpr std::size_t kMostLetters = 34;
  double y = RateCanvas::kTop + 8.0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    drawing.rectangles.push_back({RateCanvas::kLegend, y - 9.0, 9.0, 9.0, category_color(i)});
    drawing.labels.push_back(
        {RateCanvas::kLegend + 16.0, y, printable(series[i].name, kMostLetters)});
    if (!series[i].detail.empty()) {
      y += RateCanvas::kLineHeight;
      drawing.labels.push_back(
          {RateCanvas::kLegend + 16.0, y, printable(series[i].detail, kMostLetters)});
    }
    y += 1.5 * RateCanvas::kLineHeight;
  }
  drawing.labels.push_back({RateCanvas::kLegend, y, "squares: measured"});
  drawing.labels.push_back({RateCanvas::kLegend, y + RateCanvas::kLineHeight, "lines: predicted"});
}

std::string power_text(int exponent) {
  constexpr std::array<std::string_view, 7> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return fmt::format("{} {}", 1 << (exponent % 10),
                     kUnits[static_cast<std::size_t>(exponent / 10)]);
}

}  // namespace

PlotAxis bytes_axis(Bytes least, Bytes most) {
  static constexpr double kMostExponent = 60.0;
  constexpr int kShortest = 2;
  constexpr int kMostTicks = 9;
  constexpr double kSlack = 1e-9;  // a power of two stays where it is however it was rounded
  const auto exponent = [](Bytes bytes) {
    return std::clamp(std::log2(bytes / 1_B), 0.0, kMostExponent);
  };
  int low = static_cast<int>(std::floor(exponent(least) + kSlack));
  int high = static_cast<int>(std::ceil(exponent(most) - kSlack));
  for (bool below = true; high - low < kShortest; below = !below) {
    low -= below && low > 0 ? 1 : 0;
    high += !below && high < static_cast<int>(kMostExponent) ? 1 : 0;
  }
  PlotAxis axis{std::exp2(low), std::exp2(high), true, {}};
  int step = 1;
  for (const int wider : {2, 5, 10}) {
    step = (high - low) / step + 1 > kMostTicks ? wider : step;
  }
  for (int at = (low + step - 1) / step * step; at <= high; at += step) {
    axis.ticks.push_back({std::exp2(at), power_text(at)});
  }
  return axis;
}

Drawing bandwidth_drawing(const BandwidthPlot& plot) {
  std::vector<BandwidthSeries> series = plot.series;
  series.resize(std::min(series.size(), kMostBandwidthSeries));
  const Axes axes = axes_of(series);
  Drawing drawing;
  drawing.width = RateCanvas::kWidth;
  drawing.height = RateCanvas::kHeight;
  drawing.title = fmt::format("{}: {} by size", plot.title, plot.quantity);
  drawing.labels.push_back({RateCanvas::kLeft - 60.0, RateCanvas::kTop - 36.0, drawing.title,
                            Label::Anchor::kStart, true});
  drawing.labels.push_back(
      {RateCanvas::kLeft - 60.0, RateCanvas::kTop - 12.0, plot.quantity + " (GB/s)"});
  drawing.labels.push_back({RateCanvas::kLeft + RateCanvas::kWide / 2.0, RateCanvas::kBottom + 38.0,
                            "size of the message", Label::Anchor::kMiddle});
  add_bandwidth_grid(axes, drawing);
  for (std::size_t i = 0; i < series.size(); ++i) {
    add_series(series[i], axes, category_color(i), drawing);
  }
  add_bandwidth_legend(series, drawing);
  return drawing;
}

}  // namespace sextant::explain
