#include "explain/validation_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/plot_axis.h"
#include "explain/plot_cells.h"
#include "explain/plot_colors.h"

namespace sextant::explain {
namespace {

struct ErrorCanvas {
  static constexpr int kFrame = 480;
  static constexpr double kSide = kFrame;
  static constexpr double kLeft = 72.0;
  static constexpr double kTop = 60.0;
  static constexpr double kRight = kLeft + kSide;
  static constexpr double kBottom = kTop + kSide;
  static constexpr int kWidth = 844;
  static constexpr int kHeight = 592;
  static constexpr double kLegend = kRight + 24.0;
  static constexpr double kLegendRows = kLegend + 166.0;
  static constexpr double kLegendErrors = kLegend + 244.0;
  static constexpr double kLineHeight = 18.0;
};

constexpr double kNear = 0.10;
constexpr double kFar = 0.25;
constexpr Color kFarColor{236, 241, 246};
constexpr Color kIdealColor{70, 70, 70};

// Colours come back after seven series, then with another shape.
constexpr std::size_t kSeriesColors = 7;
constexpr std::size_t kSeriesShapes = 3;
constexpr std::size_t kMostSeries = kSeriesColors * kSeriesShapes;

Rectangle marker(const Point& middle, double size, std::size_t series) {
  const double thin = size / 3.0;
  const std::size_t shape = series / kSeriesColors % kSeriesShapes;
  const double width = shape == 2 ? thin : size;
  const double height = shape == 1 ? thin : size;
  return {middle.x - width / 2.0, middle.y - height / 2.0, width, height, category_color(series)};
}

double mean_magnitude(const std::vector<PlotPoint>& points) {
  double sum = 0.0;
  for (const PlotPoint& point : points) {
    sum += std::abs(point.error);
  }
  return points.empty() ? 0.0 : sum / static_cast<double>(points.size());
}

std::vector<PlotPoint> all_points(const ValidationPlot& plot) {
  std::vector<PlotPoint> all;
  for (const PlotSeries& series : plot.series) {
    all.insert(all.end(), series.points.begin(), series.points.end());
  }
  return all;
}

// At most kMostSeries: the largest as they are, in their order, then one of all others.
std::vector<PlotSeries> drawn_series(const ValidationPlot& plot) {
  if (plot.series.size() <= kMostSeries) {
    return plot.series;
  }
  std::vector<std::size_t> by_size(plot.series.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::sort(by_size.begin(), by_size.end(), [&plot](std::size_t a, std::size_t b) {
    const std::size_t of_a = plot.series[a].points.size();
    const std::size_t of_b = plot.series[b].points.size();
    return of_a != of_b ? of_a > of_b : a < b;
  });
  by_size.resize(kMostSeries - 1);
  std::sort(by_size.begin(), by_size.end());
  std::vector<PlotSeries> drawn;
  PlotSeries rest{fmt::format("{} others", plot.series.size() - by_size.size()), {}};
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const PlotSeries& series = plot.series[i];
    if (std::binary_search(by_size.begin(), by_size.end(), i)) {
      drawn.push_back(series);
    } else {
      rest.points.insert(rest.points.end(), series.points.begin(), series.points.end());
    }
  }
  drawn.push_back(std::move(rest));
  return drawn;
}

// What is drawn, whatever the axes are.
struct Scene {
  std::vector<PlotSeries> series;
  PlotAxis x;
  PlotAxis y;
  std::vector<PlacedPoint> points;
  std::int64_t without_place = 0;
};

double frame_x(double share) {
  return ErrorCanvas::kLeft + ErrorCanvas::kSide * share;
}

double frame_y(double share) {
  return ErrorCanvas::kBottom - ErrorCanvas::kSide * share;
}

void add_points(const PlotCells& cells, Drawing& drawing) {
  const double side = cells.side;
  const double size = cells.marker;
  const double room = size / 2.0;
  for (const PlotCell& cell : cells.cells) {
    const double x = ErrorCanvas::kLeft + side * (cell.column + 0.5);
    const double y = ErrorCanvas::kBottom - side * (cell.row + 0.5);
    const Point middle{std::clamp(x, ErrorCanvas::kLeft + room, ErrorCanvas::kRight - room),
                       std::clamp(y, ErrorCanvas::kTop + room, ErrorCanvas::kBottom - room)};
    drawing.rectangles.push_back(marker(middle, size, cell.series));
  }
}

void add_validation_grid(const Scene& scene, Drawing& drawing) {
  for (const Tick& tick : scene.x.ticks) {
    const double x = frame_x(scene.x.share(tick.value));
    drawing.polygons.push_back(
        polygon_of({x - 0.5, ErrorCanvas::kTop, 1.0, ErrorCanvas::kSide, kGridColor}));
    drawing.labels.push_back({x, ErrorCanvas::kBottom + 16.0, tick.text, Label::Anchor::kMiddle});
  }
  for (const Tick& tick : scene.y.ticks) {
    const double y = frame_y(scene.y.share(tick.value));
    drawing.polygons.push_back(
        polygon_of({ErrorCanvas::kLeft, y - 0.5, ErrorCanvas::kSide, 1.0, kGridColor}));
    drawing.labels.push_back({ErrorCanvas::kLeft - 6.0, y + 4.0, tick.text, Label::Anchor::kEnd});
  }
}

void add_validation_frame(Drawing& drawing) {
  for (const double at : {0.0, ErrorCanvas::kSide}) {
    drawing.rectangles.push_back(
        {ErrorCanvas::kLeft + at - 0.5, ErrorCanvas::kTop, 1.0, ErrorCanvas::kSide, kFrameColor});
    drawing.rectangles.push_back(
        {ErrorCanvas::kLeft, ErrorCanvas::kTop + at - 0.5, ErrorCanvas::kSide, 1.0, kFrameColor});
  }
}

// The points between (1 − within) and (1 + within) times the measured value: a stripe along the
// diagonal, cut at the frame.
void add_diagonal_band(const PlotAxis& axis, double within, const Color& color, Drawing& drawing) {
  const double below = -axis.share((1.0 - within) * axis.low);
  const double above = axis.share((1.0 + within) * axis.low);
  const auto at = [](double x, double y) { return Point{frame_x(x), frame_y(y)}; };
  drawing.polygons.push_back({{at(0.0, 0.0), at(0.0, above), at(1.0 - above, 1.0), at(1.0, 1.0),
                               at(1.0, 1.0 - below), at(below, 0.0)},
                              color});
}

void add_diagonal(Drawing& drawing) {
  constexpr double kHalf = 0.7;
  drawing.polygons.push_back({{{ErrorCanvas::kLeft - kHalf, ErrorCanvas::kBottom - kHalf},
                               {ErrorCanvas::kRight - kHalf, ErrorCanvas::kTop - kHalf},
                               {ErrorCanvas::kRight + kHalf, ErrorCanvas::kTop + kHalf},
                               {ErrorCanvas::kLeft + kHalf, ErrorCanvas::kBottom + kHalf}},
                              kIdealColor});
}

// The legend grows downwards, a line at a time.
class Legend {
 public:
  explicit Legend(Drawing& drawing) : drawing_(drawing) {
    add({ErrorCanvas::kLegendRows, y_, "rows", Label::Anchor::kEnd});
    add({ErrorCanvas::kLegendErrors, y_, "mean error", Label::Anchor::kEnd});
  }

  void add_series(const PlotSeries& series, std::size_t index) {
    next_line();
    drawing_.rectangles.push_back(marker({ErrorCanvas::kLegend + 5.0, y_ - 4.0}, 9.0, index));
    add_numbers(series.name, series.points);
  }

  void add_total(const std::vector<PlotPoint>& points) {
    next_line();
    add_numbers("all", points);
  }

  void add_band(double within, const Color& color, const std::vector<PlotPoint>& points) {
    next_line();
    drawing_.rectangles.push_back({ErrorCanvas::kLegend, y_ - 9.0, 10.0, 10.0, color});
    const auto inside = std::count_if(points.begin(), points.end(), [within](const PlotPoint& p) {
      return std::abs(p.error) <= within;
    });
    const double share =
        points.empty() ? 0.0 : static_cast<double>(inside) / static_cast<double>(points.size());
    add({ErrorCanvas::kLegend + 18.0, y_,
         fmt::format("within {:.0f} %: {:.1f} % of rows", within * 100.0, share * 100.0)});
  }

  void add_text(std::string text) {
    next_line();
    add({ErrorCanvas::kLegend, y_, std::move(text)});
  }

  void skip() { y_ += ErrorCanvas::kLineHeight / 2.0; }

 private:
  void next_line() { y_ += ErrorCanvas::kLineHeight; }
  void add(Label label) { drawing_.labels.push_back(std::move(label)); }
  void add_numbers(const std::string& name, const std::vector<PlotPoint>& points) {
    constexpr std::size_t kMostLetters = 18;
    add({ErrorCanvas::kLegend + 18.0, y_, printable(name, kMostLetters)});
    add({ErrorCanvas::kLegendRows, y_, with_thousands(static_cast<std::int64_t>(points.size())),
         Label::Anchor::kEnd});
    add({ErrorCanvas::kLegendErrors, y_, fmt::format("{:.1f} %", mean_magnitude(points) * 100.0),
         Label::Anchor::kEnd});
  }

  Drawing& drawing_;
  double y_ = ErrorCanvas::kTop + 8.0;
};

std::string rows_text(std::int64_t rows) {
  return rows == 1 ? "1 row" : fmt::format("{} rows", with_thousands(rows));
}

void add_validation_legend(const ValidationPlot& plot, const Scene& scene, const PlotCells& cells,
                           Drawing& drawing, bool far_band) {
  Legend legend(drawing);
  for (std::size_t i = 0; i < scene.series.size(); ++i) {
    legend.add_series(scene.series[i], i);
  }
  const std::vector<PlotPoint> all = all_points(plot);
  if (scene.series.size() > 1) {
    legend.add_total(all);
  }
  legend.skip();
  legend.add_band(kNear, kBandColor, all);
  if (far_band) {
    legend.add_band(kFar, kFarColor, all);
  }
  legend.skip();
  if (cells.clipped > 0) {
    legend.add_text(fmt::format("{} beyond the frame, at its edge", rows_text(cells.clipped)));
  }
  if (scene.without_place > 0) {
    legend.add_text(fmt::format("{} not above zero, not drawn", rows_text(scene.without_place)));
  }
}

std::string with_unit(std::string text, const std::string& unit) {
  return unit.empty() ? text : fmt::format("{} ({})", text, unit);
}

Drawing framed(const ValidationPlot& plot, const std::string& title, const std::string& y_label) {
  Drawing drawing;
  drawing.width = ErrorCanvas::kWidth;
  drawing.height = ErrorCanvas::kHeight;
  drawing.title = title;
  drawing.labels.push_back(
      {ErrorCanvas::kLeft - 60.0, ErrorCanvas::kTop - 36.0, title, Label::Anchor::kStart, true});
  drawing.labels.push_back({ErrorCanvas::kLeft - 60.0, ErrorCanvas::kTop - 12.0, y_label});
  drawing.labels.push_back(
      {ErrorCanvas::kLeft + ErrorCanvas::kSide / 2.0, ErrorCanvas::kBottom + 38.0,
       with_unit("measured " + plot.quantity, plot.unit), Label::Anchor::kMiddle});
  return drawing;
}

struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = 0.0;

  void hold(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  [[nodiscard]] bool is_empty() const { return most == 0.0; }
};

bool is_placed(double value) {
  return std::isfinite(value) && value > 0.0;
}

// Both values, but of predictions no more than a factor beyond what was measured: one that is far
// out must not press all others into a corner.
PlotAxis scatter_axis(const std::vector<PlotSeries>& series) {
  constexpr double kMostBeyond = 4.0;
  Range measured;
  Range predicted;
  for (const PlotSeries& one : series) {
    for (const PlotPoint& point : one.points) {
      if (is_placed(point.measured) && is_placed(point.predicted)) {
        measured.hold(point.measured);
        predicted.hold(point.predicted);
      }
    }
  }
  if (measured.is_empty()) {
    return log_axis(1.0, 1.0);
  }
  return log_axis(std::min(measured.least, std::max(predicted.least, measured.least / kMostBeyond)),
                  std::max(measured.most, std::min(predicted.most, measured.most * kMostBeyond)));
}

Scene scatter_scene(const ValidationPlot& plot) {
  Scene scene;
  scene.series = drawn_series(plot);
  scene.x = scatter_axis(scene.series);
  scene.y = scene.x;
  for (std::size_t i = 0; i < scene.series.size(); ++i) {
    for (const PlotPoint& point : scene.series[i].points) {
      if (is_placed(point.measured) && is_placed(point.predicted)) {
        scene.points.push_back({scene.x.share(point.measured), scene.y.share(point.predicted), i});
      } else {
        ++scene.without_place;
      }
    }
  }
  return scene;
}

Scene error_scene(const ValidationPlot& plot) {
  Scene scene;
  scene.series = drawn_series(plot);
  Range measured;
  std::vector<double> errors;
  for (const PlotPoint& point : all_points(plot)) {
    if (is_placed(point.measured)) {
      measured.hold(point.measured);
      errors.push_back(point.error);
    }
  }
  scene.x = measured.is_empty() ? log_axis(1.0, 1.0) : log_axis(measured.least, measured.most);
  scene.y = percent_axis(errors);
  for (std::size_t i = 0; i < scene.series.size(); ++i) {
    for (const PlotPoint& point : scene.series[i].points) {
      if (is_placed(point.measured)) {
        scene.points.push_back(
            {scene.x.share(point.measured), scene.y.share(point.error * 100.0), i});
      } else {
        ++scene.without_place;
      }
    }
  }
  return scene;
}

}  // namespace

std::int64_t ValidationPlot::rows() const {
  std::int64_t rows = 0;
  for (const PlotSeries& one : series) {
    rows += static_cast<std::int64_t>(one.points.size());
  }
  return rows;
}

double ValidationPlot::mean_error() const {
  return mean_magnitude(all_points(*this));
}

Drawing scatter_drawing(const ValidationPlot& plot) {
  const Scene scene = scatter_scene(plot);
  Drawing drawing =
      framed(plot, fmt::format("{}: predicted against measured {}", plot.title, plot.quantity),
             with_unit("predicted " + plot.quantity, plot.unit));
  add_diagonal_band(scene.x, kFar, kFarColor, drawing);
  add_diagonal_band(scene.x, kNear, kBandColor, drawing);
  add_validation_grid(scene, drawing);
  add_diagonal(drawing);
  add_validation_frame(drawing);
  const PlotCells cells = plot_cells(scene.points, ErrorCanvas::kFrame);
  add_points(cells, drawing);
  add_validation_legend(plot, scene, cells, drawing, true);
  return drawing;
}

Drawing error_drawing(const ValidationPlot& plot) {
  const Scene scene = error_scene(plot);
  Drawing drawing = framed(plot, fmt::format("{}: error by measured {}", plot.title, plot.quantity),
                           "error: (predicted - measured) / measured");
  const double top = frame_y(scene.y.share(kNear * 100.0));
  const double bottom = frame_y(scene.y.share(-kNear * 100.0));
  drawing.polygons.push_back(
      polygon_of({ErrorCanvas::kLeft, top, ErrorCanvas::kSide, bottom - top, kBandColor}));
  add_validation_grid(scene, drawing);
  drawing.polygons.push_back(polygon_of({ErrorCanvas::kLeft, frame_y(scene.y.share(0.0)) - 0.7,
                                         ErrorCanvas::kSide, 1.4, kIdealColor}));
  add_validation_frame(drawing);
  const PlotCells cells = plot_cells(scene.points, ErrorCanvas::kFrame);
  add_points(cells, drawing);
  add_validation_legend(plot, scene, cells, drawing, false);
  return drawing;
}

}  // namespace sextant::explain
