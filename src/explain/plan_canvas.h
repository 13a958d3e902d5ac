// What the pictures of a plan share: a title, a frame with ticks, keys of colours.
#pragma once

#include <string>

#include <fmt/format.h>

#include "explain/drawing.h"
#include "explain/plot_colors.h"

namespace sextant::explain {

struct Canvas {
  static constexpr int kWidth = 900;
  static constexpr int kHeight = 480;
  static constexpr double kLeft = 90.0;
  static constexpr double kTop = 60.0;
  static constexpr double kWide = 620.0;
  static constexpr double kHigh = 340.0;
  static constexpr double kRight = kLeft + kWide;
  static constexpr double kBottom = kTop + kHigh;
  static constexpr Color kLimit{190, 20, 20};
};

inline Drawing canvas(const std::string& title) {
  Drawing drawing;
  drawing.width = Canvas::kWidth;
  drawing.height = Canvas::kHeight;
  drawing.title = title;
  // A title longer than the picture is wide would be cut off at its end.
  constexpr std::size_t kLongest = 118;
  const std::string shown = title.size() > kLongest ? title.substr(0, kLongest) + "…" : title;
  drawing.labels.push_back({20.0, 26.0, shown, Label::Anchor::kStart});
  drawing.rectangles.push_back(
      {Canvas::kLeft - 1.0, Canvas::kTop, 1.0, Canvas::kHigh + 1.0, kAxisColor});
  drawing.rectangles.push_back({Canvas::kLeft, Canvas::kBottom, Canvas::kWide, 1.0, kAxisColor});
  return drawing;
}

// Ticks of the upright axis from `low` to `high`, grid lines under everything.
inline void add_scale(double low, double high, std::string_view unit, Drawing& drawing) {
  constexpr int kTicks = 4;
  for (int tick = 0; tick <= kTicks; ++tick) {
    const double y = Canvas::kBottom - Canvas::kHigh * tick / kTicks;
    drawing.polygons.push_back(polygon_of({Canvas::kLeft, y, Canvas::kWide, 1.0, kPaleGridColor}));
    drawing.labels.push_back({Canvas::kLeft - 6.0, y + 4.0,
                              fmt::format("{:.4g} {}", low + (high - low) * tick / kTicks, unit),
                              Label::Anchor::kEnd});
  }
}

inline void add_key(std::size_t line, const Color& color, std::string name, Drawing& drawing) {
  constexpr double kStep = 18.0;
  const double y = Canvas::kTop + kStep * static_cast<double>(line);
  drawing.rectangles.push_back({Canvas::kRight + 16.0, y, 10.0, 10.0, color});
  drawing.labels.push_back(
      {Canvas::kRight + 32.0, y + 9.0, std::move(name), Label::Anchor::kStart});
}

}  // namespace sextant::explain
