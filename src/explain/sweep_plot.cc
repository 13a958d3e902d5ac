// The picture of a sweep: two panels over the same values, utilisation above, shares below.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "explain/plot_colors.h"
#include "explain/sweep_view.h"

namespace sextant::explain {
namespace {

struct SweepCanvas {
  static constexpr int kWidth = 900;
  static constexpr int kHeight = 620;
  static constexpr double kLeft = 70.0;
  static constexpr double kWide = 680.0;
  static constexpr double kRight = kLeft + kWide;
};
constexpr Color kModelLine{8, 29, 72};
constexpr Color kHardwareLine{213, 94, 0};

struct Panel {
  double top = 0.0;
  double high = 0.0;
  double most = 1.0;  // of its scale, which begins at 0
  [[nodiscard]] double y(double value) const { return top + high * (1.0 - value / most); }
  [[nodiscard]] double bottom() const { return top + high; }
};
constexpr double kUpperTop = 70.0;
constexpr double kUpperHigh = 260.0;
constexpr Panel kLower{.top = 380.0, .high = 170.0, .most = 1.0};

// Values stand at equal distances: lists double, and formats have no distance. Whole, so that lines
// and markers meet.
double point_x(std::size_t index, std::size_t points) {
  return std::round(SweepCanvas::kLeft + SweepCanvas::kWide * (static_cast<double>(index) + 0.5) /
                                             static_cast<double>(points));
}

// The end of the scale: a round share that nothing exceeds.
double utilisation_scale_end(const SweepAnswer& answer) {
  double most = 0.0;
  for (const SweepPoint& point : answer.points) {
    if (point.answer) {
      const step::StepUse& use = point.answer->step.use;
      most = std::max({most, use.mfu(), use.hfu()});
    }
  }
  for (const double end : {0.05, 0.1, 0.2, 0.4, 0.6, 0.8}) {
    if (most <= end) {
      return end;
    }
  }
  return std::max(1.0, most);
}

void add_panel(const Panel& panel, std::string title, Drawing& drawing) {
  constexpr int kTicks = 4;
  for (int tick = 0; tick <= kTicks; ++tick) {
    const double value = panel.most * tick / kTicks;
    const double y = std::round(panel.y(value));
    if (tick > 0) {  // under the lines
      drawing.polygons.push_back({{{SweepCanvas::kLeft, y},
                                   {SweepCanvas::kRight, y},
                                   {SweepCanvas::kRight, y + 1.0},
                                   {SweepCanvas::kLeft, y + 1.0}},
                                  kPaleGridColor});
    }
    drawing.labels.push_back({SweepCanvas::kLeft - 6.0, y + 4.0,
                              fmt::format("{:.3g} %", 100.0 * value), Label::Anchor::kEnd});
  }
  drawing.rectangles.push_back(
      {SweepCanvas::kLeft - 1.0, panel.top, 1.0, panel.high + 1.0, kAxisColor});
  drawing.rectangles.push_back(
      {SweepCanvas::kLeft, panel.bottom(), SweepCanvas::kWide, 1.0, kAxisColor});
  drawing.labels.push_back(
      {SweepCanvas::kLeft, panel.top - 12.0, std::move(title), Label::Anchor::kStart});
}

void add_line(const Point& from, const Point& to, const Color& color, Drawing& drawing) {
  constexpr double kThick = 2.0;
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const double across = (to.y - from.y) * kThick / 2.0 / length;
  const double up = (to.x - from.x) * kThick / 2.0 / length;
  drawing.polygons.push_back({{{from.x + across, from.y - up},
                               {to.x + across, to.y - up},
                               {to.x - across, to.y + up},
                               {from.x - across, from.y + up}},
                              color});
}

// A point that is not legal interrupts the line; formats are points without a line.
void add_curve(const SweepAnswer& answer, const Panel& panel,
               double (step::StepUse::*share)() const, const Color& color, Drawing& drawing) {
  constexpr double kMarkerSide = 7.0;
  std::optional<Point> last;
  for (std::size_t i = 0; i < answer.points.size(); ++i) {
    const auto& known = answer.points[i].answer;
    if (!known) {
      last.reset();
      continue;
    }
    const Point at{point_x(i, answer.points.size()), panel.y((known->step.use.*share)())};
    if (last && answer.ordered) {
      add_line(*last, at, color, drawing);
    }
    drawing.rectangles.push_back(square_around(at, kMarkerSide, color));
    last = at;
  }
}

// Which labels stand without touching: every one, every second, …
std::size_t label_step(std::size_t points) {
  constexpr double kRoom = 44.0;
  return static_cast<std::size_t>(
      std::ceil(kRoom * static_cast<double>(points) / SweepCanvas::kWide));
}

void add_values(const SweepAnswer& answer, const Panel& panel, Drawing& drawing) {
  for (std::size_t i = 0; i < answer.points.size(); i += label_step(answer.points.size())) {
    const SweepPoint& point = answer.points[i];
    const double x = point_x(i, answer.points.size());
    drawing.labels.push_back({x, panel.bottom() + 16.0, point.value, Label::Anchor::kMiddle});
    drawing.labels.push_back({x, kLower.bottom() + 16.0, point.value, Label::Anchor::kMiddle});
    if (point.answer) {
      const double share = point.answer->step.use.mfu();
      const double y = panel.y(share);
      const bool low = y + 24.0 > panel.bottom();  // no room below the line
      drawing.labels.push_back({x, low ? y - 10.0 : y + 20.0, fmt::format("{:.1f}", 100.0 * share),
                                Label::Anchor::kMiddle});
      if (!point.answer->step.memory.fits()) {
        drawing.labels.push_back({x, panel.top + 10.0, "does not fit", Label::Anchor::kMiddle});
      }
      continue;
    }
    const std::string why = point.reasons.empty() ? std::string() : point.reasons.front();
    drawing.labels.push_back({x, panel.bottom() - 20.0, "not legal", Label::Anchor::kMiddle});
    drawing.labels.push_back(
        {x, panel.bottom() - 6.0, why.substr(0, why.find(':')), Label::Anchor::kMiddle});
  }
  for (const double y : {panel.bottom(), kLower.bottom()}) {
    drawing.labels.push_back({SweepCanvas::kLeft + SweepCanvas::kWide / 2.0, y + 34.0,
                              answer.factor, Label::Anchor::kMiddle});
  }
}

// All communication is one part of a bar.
constexpr std::array<std::string_view, 6> kBarParts{"compute", "waiting", "communication",
                                                    "bubble",  "update",  "loop"};
std::array<Seconds, kBarParts.size()> bar_parts(const step::StepEstimate& step) {
  return {step.compute, step.host, step.exposed.total(), step.bubble, step.update, step.beside};
}

void add_bars(const SweepAnswer& answer, Drawing& drawing) {
  const double room = SweepCanvas::kWide / static_cast<double>(answer.points.size());
  const double width = std::max(1.0, std::min(60.0, std::floor(room * 0.6)));
  for (std::size_t i = 0; i < answer.points.size(); ++i) {
    const auto& known = answer.points[i].answer;
    if (!known) {
      continue;
    }
    const std::array<Seconds, kBarParts.size()> parts = bar_parts(known->step.step);
    double below = 0.0;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const double share = parts[part] / known->step.step.step;
      const double top = kLower.y(below + share);
      if (share > 0.0) {
        drawing.rectangles.push_back({point_x(i, answer.points.size()) - width / 2.0, top, width,
                                      kLower.y(below) - top, category_color(part)});
      }
      below += share;
    }
  }
}

void add_sweep_key(double y, const Color& color, std::string name, Drawing& drawing) {
  drawing.rectangles.push_back({SweepCanvas::kRight + 20.0, y, 10.0, 10.0, color});
  drawing.labels.push_back(
      {SweepCanvas::kRight + 36.0, y + 9.0, std::move(name), Label::Anchor::kStart});
}

void add_sweep_legend(Drawing& drawing) {
  constexpr double kLine = 18.0;
  add_sweep_key(kUpperTop, kModelLine, "model FLOPs", drawing);
  add_sweep_key(kUpperTop + kLine, kHardwareLine, "hardware FLOPs", drawing);
  double y = kLower.top;
  for (std::size_t part = kBarParts.size(); part-- > 0;) {
    add_sweep_key(y, category_color(part), std::string(kBarParts[part]), drawing);
    y += kLine;
  }
}

}  // namespace

Drawing to_drawing(const SweepAnswer& answer, const std::string& title) {
  Drawing drawing;
  drawing.width = SweepCanvas::kWidth;
  drawing.height = SweepCanvas::kHeight;
  drawing.title = title;
  drawing.labels.push_back({SweepCanvas::kLeft, 26.0, title, Label::Anchor::kStart});
  const Panel upper{.top = kUpperTop, .high = kUpperHigh, .most = utilisation_scale_end(answer)};
  add_panel(upper, "utilisation: share of the peak in the datasheet, whole steps", drawing);
  add_panel(kLower, "share of the time of a step", drawing);
  if (answer.points.empty()) {
    return drawing;
  }
  add_curve(answer, upper, &step::StepUse::hfu, kHardwareLine, drawing);
  add_curve(answer, upper, &step::StepUse::mfu, kModelLine, drawing);
  add_bars(answer, drawing);
  add_values(answer, upper, drawing);
  add_sweep_legend(drawing);
  return drawing;
}

}  // namespace sextant::explain
