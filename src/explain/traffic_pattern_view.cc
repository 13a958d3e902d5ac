#include "explain/traffic_pattern_view.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "explain/plot_colors.h"

namespace sextant::explain {
namespace {

using workload::Burst;
using workload::GroupKind;
using workload::Pattern;

struct BurstCanvas {
  static constexpr int kWidth = 1200;
  static constexpr int kHeight = 360;
  static constexpr double kLeft = 70.0;
  static constexpr double kTop = 50.0;
  static constexpr double kWide = 1100.0;
  static constexpr double kHigh = 250.0;
};
constexpr double kWidestBar = 1.5;

// A colour for every kind of group that the pattern uses, in the order of the kinds.
class GroupColors {
 public:
  explicit GroupColors(const Pattern& pattern) {
    for (const Burst& burst : pattern.bursts) {
      used_[static_cast<std::size_t>(burst.group)] = true;
    }
  }
  [[nodiscard]] bool uses(GroupKind group) const { return used_[static_cast<std::size_t>(group)]; }
  [[nodiscard]] Color of(GroupKind group) const {
    const auto* const end = used_.begin() + static_cast<std::ptrdiff_t>(group);
    return category_color(static_cast<std::size_t>(std::count(used_.begin(), end, true)));
  }

 private:
  std::array<bool, workload::kGroupKindWords.size()> used_{};
};

// Bars share the width with the work between them, so that bursts without work between them stand
// side by side.
void add_bursts(const Pattern& pattern, const GroupColors& colors, Bytes largest,
                Drawing& drawing) {
  const double work = std::max(pattern.work() / 1_flop, 1.0);
  const double bars =
      std::min(kWidestBar * static_cast<double>(pattern.bursts.size()), BurstCanvas::kWide / 2.0);
  const double bar =
      pattern.bursts.empty() ? kWidestBar : bars / static_cast<double>(pattern.bursts.size());
  double x = BurstCanvas::kLeft;
  for (const Burst& burst : pattern.bursts) {
    x += burst.work_before / 1_flop / work * (BurstCanvas::kWide - bars);
    const double height = std::max(BurstCanvas::kHigh * (burst.bytes / largest), 1.0);
    drawing.rectangles.push_back(
        {x, BurstCanvas::kTop + BurstCanvas::kHigh - height, bar, height, colors.of(burst.group)});
    x += bar;
  }
}

void add_group_legend(const GroupColors& colors, Drawing& drawing) {
  double x = BurstCanvas::kLeft;
  for (const auto& [kind, name] : workload::kGroupKindWords) {
    if (colors.uses(kind)) {
      drawing.rectangles.push_back(
          {x, BurstCanvas::kTop + BurstCanvas::kHigh + 34.0, 10.0, 10.0, colors.of(kind)});
      drawing.labels.push_back({x + 14.0, BurstCanvas::kTop + BurstCanvas::kHigh + 43.0,
                                std::string(name), Label::Anchor::kStart});
      x += 110.0;
    }
  }
}

}  // namespace

Drawing to_drawing(const Pattern& pattern, const std::string& title) {
  Bytes largest = 1_B;
  for (const Burst& burst : pattern.bursts) {
    largest = std::max(largest, burst.bytes);
  }
  Drawing drawing;
  drawing.width = BurstCanvas::kWidth;
  drawing.height = BurstCanvas::kHeight;
  drawing.title = title;
  const GroupColors colors(pattern);
  add_bursts(pattern, colors, largest, drawing);
  drawing.rectangles.push_back({BurstCanvas::kLeft, BurstCanvas::kTop + BurstCanvas::kHigh,
                                BurstCanvas::kWide, 1.0, kAxisColor});
  drawing.rectangles.push_back(
      {BurstCanvas::kLeft - 1.0, BurstCanvas::kTop, 1.0, BurstCanvas::kHigh, kAxisColor});
  drawing.labels.push_back(
      {BurstCanvas::kLeft, BurstCanvas::kTop - 26.0, title, Label::Anchor::kStart});
  drawing.labels.push_back(
      {BurstCanvas::kLeft - 6.0, BurstCanvas::kTop + 8.0, to_text(largest), Label::Anchor::kEnd});
  drawing.labels.push_back(
      {BurstCanvas::kLeft - 6.0, BurstCanvas::kTop + BurstCanvas::kHigh, "0", Label::Anchor::kEnd});
  drawing.labels.push_back(
      {BurstCanvas::kLeft + BurstCanvas::kWide, BurstCanvas::kTop + BurstCanvas::kHigh + 16.0,
       fmt::format("{:.4g} TFLOP of work", pattern.work() / 1_TFLOP), Label::Anchor::kEnd});
  drawing.labels.push_back({BurstCanvas::kLeft, BurstCanvas::kTop + BurstCanvas::kHigh + 16.0,
                            "forward, then backward: one microbatch of one rank",
                            Label::Anchor::kStart});
  add_group_legend(colors, drawing);
  return drawing;
}

}  // namespace sextant::explain
