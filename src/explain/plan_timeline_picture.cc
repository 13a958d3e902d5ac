#include <algorithm>
#include <array>
#include <map>

#include "base/quantity_text.h"
#include "explain/plan_canvas.h"
#include "explain/plan_pictures.h"

namespace sextant::explain {
namespace {

using timeline::SpanKind;

constexpr std::int64_t kMostRows = 64;
constexpr std::array<std::string_view, 5> kColorNames{
    "forward", "backward", "exposed communication", "update", "loop and unevenness"};

// Passes are named after what they do: "F17", "B4 chunk 1".
std::size_t color_of(const timeline::Label& label) {
  if (label.kind == SpanKind::kCommunication) {
    return 2;
  }
  if (label.kind == SpanKind::kHost) {
    return 4;
  }
  if (label.name == "update") {
    return 3;
  }
  return label.name.starts_with("F") ? 0 : 1;
}

struct RankRow {
  double y = 0.0;
  double high = 0.0;
  std::map<std::uint32_t, double> drawn;  // of each lane, the last pixel
};

}  // namespace

Drawing timeline_picture(const timeline::Timeline& timeline, Seconds step,
                         const std::string& title) {
  Drawing drawing = canvas(title);
  std::int64_t ranks = 1;
  for (const timeline::Lane& lane : timeline.lanes()) {
    ranks = std::max(ranks, static_cast<std::int64_t>(lane.rank.value) + 1);
  }
  const std::int64_t each = (ranks + kMostRows - 1) / kMostRows;
  const std::int64_t rows = (ranks + each - 1) / each;
  const double high = Canvas::kHigh / static_cast<double>(rows);
  std::map<std::int64_t, RankRow> drawn;
  for (const timeline::Span& span : timeline.spans()) {
    const timeline::Label& label = timeline.label_of(span);
    const timeline::Lane& lane = timeline.lane_of(span);
    const auto rank = static_cast<std::int64_t>(lane.rank.value);
    const bool sends = lane.stream.value == 1 || lane.stream.value == 2;
    if (label.kind == SpanKind::kIdle || sends || rank % each != 0) {
      continue;
    }
    const std::int64_t place = rank / each;
    RankRow& row = drawn[rank];
    row.y = Canvas::kTop + high * static_cast<double>(place);
    row.high = std::max(1.0, high * 0.85);
    const double scale = Canvas::kWide / (step / 1_ns);
    const double from = Canvas::kLeft + static_cast<double>(span.start_ns) * scale;
    const double to = Canvas::kLeft + static_cast<double>(span.end_ns()) * scale;
    double& last = row.drawn[span.lane];
    if (to < last + 0.5) {
      continue;  // within a pixel that is drawn already
    }
    last = to;
    const std::size_t color = color_of(label);
    const bool beside = color == 2;  // on the lower third
    drawing.rectangles.push_back({from, beside ? row.y + row.high * 0.67 : row.y,
                                  std::max(0.5, to - from - 0.3),
                                  beside ? row.high * 0.33 : row.high, category_color(color)});
  }
  for (std::int64_t i = 0; i < rows; i += std::max<std::int64_t>(1, rows / 16)) {
    drawing.labels.push_back({Canvas::kLeft - 6.0,
                              Canvas::kTop + high * (static_cast<double>(i) + 0.6),
                              fmt::format("rank {}", i * each), Label::Anchor::kEnd});
  }
  for (const double share : {0.0, 0.5, 1.0}) {
    drawing.labels.push_back({Canvas::kLeft + Canvas::kWide * share, Canvas::kBottom + 16.0,
                              to_text(step * share), Label::Anchor::kMiddle});
  }
  for (std::size_t i = 0; i < kColorNames.size(); ++i) {
    add_key(i, category_color(i), std::string(kColorNames[i]), drawing);
  }
  return drawing;
}

}  // namespace sextant::explain
