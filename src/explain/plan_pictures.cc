#include "explain/plan_pictures.h"

#include <algorithm>
#include <set>

#include "base/quantity_text.h"
#include "explain/plan_canvas.h"

namespace sextant::explain {
namespace {

constexpr Color kTotal{8, 29, 72};
constexpr Color kLonger{213, 94, 0};
constexpr Color kShorter{0, 158, 115};

std::vector<std::int64_t> sorted(const std::set<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

std::size_t place(const std::vector<std::int64_t>& values, std::int64_t value) {
  return static_cast<std::size_t>(std::find(values.begin(), values.end(), value) - values.begin());
}

}  // namespace

Drawing waterfall_picture(const search::PlanRow& first, const search::PlanRow& second,
                          const std::string& title) {
  struct Bar {
    std::string name;
    Seconds from;
    Seconds to;
    Color color;
  };
  const Seconds start = first.result.step.step;
  std::vector<Bar> bars{{"1: " + mesh_text(first), Seconds(), start, kTotal}};
  Seconds at = start;
  Seconds least = start;
  Seconds most = std::max(start, second.result.step.step);
  for (const TermChange& change : term_changes(first.result.step, second.result.step)) {
    if (std::max(change.longer, -change.longer) > start * 1e-6) {
      bars.push_back({std::string(change.term.name), at, at + change.longer,
                      change.longer > Seconds() ? kLonger : kShorter});
      at += change.longer;
      least = std::min(least, at);
      most = std::max(most, at);
    }
  }
  bars.push_back({"2: " + mesh_text(second), Seconds(), second.result.step.step, kTotal});
  // The scale begins below the lowest of them: differences are small beside a step.
  const Seconds low = std::max(Seconds(), least - (most - least) * 0.5);
  const Seconds range = std::max(most - low, start * 1e-9);
  Drawing drawing = canvas(title);
  add_scale(low / 1_ms, (low + range) / 1_ms, "ms", drawing);
  const double room = Canvas::kWide / static_cast<double>(bars.size());
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const auto y = [&](Seconds time) {
      return Canvas::kBottom - Canvas::kHigh * (std::max(time - low, Seconds()) / range);
    };
    const double x = Canvas::kLeft + room * (static_cast<double>(i) + 0.15);
    const double top = std::min(y(bars[i].from), y(bars[i].to));
    const double bottom = std::max(y(bars[i].from), y(bars[i].to));
    drawing.rectangles.push_back({x, top, room * 0.7, std::max(1.0, bottom - top), bars[i].color});
    // Names take turns on two lines, so that neighbours do not touch.
    drawing.labels.push_back({x + room * 0.35, Canvas::kBottom + (i % 2 == 0 ? 16.0 : 32.0),
                              bars[i].name, Label::Anchor::kMiddle});
    drawing.labels.push_back(
        {x + room * 0.35, top - 4.0, to_text(bars[i].to - bars[i].from), Label::Anchor::kMiddle});
  }
  add_key(0, kTotal, "whole step", drawing);
  add_key(1, kLonger, "longer in 2", drawing);
  add_key(2, kShorter, "shorter in 2", drawing);
  return drawing;
}

Drawing front_picture(std::span<const search::PlanRow> front, const std::string& title) {
  Drawing drawing = canvas(title);
  const auto memory = [](const search::PlanRow& row) {
    return row.result.memory.fullest.device / 1_GiB;
  };
  const double shortest = front.front().result.step.step / 1_ms;
  const double longest = std::max(front.back().result.step.step / 1_ms, shortest * 1.001);
  double most = 0.0;
  for (const search::PlanRow& row : front) {
    most = std::max(most, memory(row));
  }
  add_scale(0.0, most, "GiB", drawing);
  for (const search::PlanRow& row : front) {
    constexpr double kSide = 7.0;
    const double share = (row.result.step.step / 1_ms - shortest) / (longest - shortest);
    const double x = Canvas::kLeft + 20.0 + (Canvas::kWide - 40.0) * share;
    const double y = Canvas::kBottom - Canvas::kHigh * memory(row) / most;
    drawing.rectangles.push_back({x - kSide / 2.0, y - kSide / 2.0, kSide, kSide, kTotal});
    if (front.size() <= 12) {
      drawing.labels.push_back({x + 8.0, y + 14.0, mesh_text(row), Label::Anchor::kStart});
    }
  }
  for (const double share : {0.0, 0.5, 1.0}) {
    drawing.labels.push_back(
        {Canvas::kLeft + 20.0 + (Canvas::kWide - 40.0) * share, Canvas::kBottom + 16.0,
         to_text((shortest + (longest - shortest) * share) * 1_ms), Label::Anchor::kMiddle});
  }
  drawing.labels.push_back({Canvas::kLeft + Canvas::kWide / 2.0, Canvas::kBottom + 38.0,
                            "step; memory of the fullest rank upward", Label::Anchor::kMiddle});
  return drawing;
}

Drawing mesh_picture(std::span<const MeshTime> times, const std::string& title) {
  std::set<std::int64_t> tps;
  std::set<std::int64_t> pps;
  Seconds best = times.front().step;
  Seconds worst = best;
  for (const MeshTime& time : times) {
    tps.insert(time.tp);
    pps.insert(time.pp);
    best = std::min(best, time.step);
    worst = std::max(worst, time.step);
  }
  const std::vector<std::int64_t> down = sorted(tps);
  const std::vector<std::int64_t> across = sorted(pps);
  const double wide = Canvas::kWide / static_cast<double>(across.size());
  const double high = Canvas::kHigh / static_cast<double>(down.size());
  Drawing drawing = canvas(title);
  for (const MeshTime& time : times) {
    const double x = Canvas::kLeft + wide * static_cast<double>(place(across, time.pp));
    const double y = Canvas::kTop + high * static_cast<double>(place(down, time.tp));
    // The slowest stays light enough for the text in it.
    const double share = worst > best ? (time.step - best) / (worst - best) * 0.5 : 0.0;
    drawing.rectangles.push_back({x + 1.0, y + 1.0, wide - 2.0, high - 2.0, scale_color(share)});
    drawing.labels.push_back(
        {x + wide / 2.0, y + high / 2.0 + 4.0, to_text(time.step), Label::Anchor::kMiddle});
  }
  for (std::size_t i = 0; i < down.size(); ++i) {
    drawing.labels.push_back({Canvas::kLeft - 6.0,
                              Canvas::kTop + high * (static_cast<double>(i) + 0.5) + 4.0,
                              fmt::format("tp={}", down[i]), Label::Anchor::kEnd});
  }
  for (std::size_t i = 0; i < across.size(); ++i) {
    drawing.labels.push_back({Canvas::kLeft + wide * (static_cast<double>(i) + 0.5),
                              Canvas::kBottom + 16.0, fmt::format("pp={}", across[i]),
                              Label::Anchor::kMiddle});
  }
  return drawing;
}

}  // namespace sextant::explain
