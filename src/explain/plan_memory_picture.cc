#include <algorithm>
#include <array>

#include "explain/plan_canvas.h"
#include "explain/plan_pictures.h"

namespace sextant::explain {
namespace {

using cost::MemoryItem;

struct Part {
  std::string_view name;
  std::array<MemoryItem, 4> items;  // the last repeated where there are fewer
};
// Every item is in one of them.
constexpr std::array<Part, 6> kParts{
    {{"parameters",
      {MemoryItem::kParameters, MemoryItem::kWeightCopies, MemoryItem::kGathered,
       MemoryItem::kGathered}},
     {"gradients",
      {MemoryItem::kGradients, MemoryItem::kGradientBuffers, MemoryItem::kGradientBuffers,
       MemoryItem::kGradientBuffers}},
     {"optimizer",
      {MemoryItem::kMaster, MemoryItem::kMoments, MemoryItem::kMoments, MemoryItem::kMoments}},
     {"activations",
      {MemoryItem::kActivations, MemoryItem::kCheckpoints, MemoryItem::kRecomputed,
       MemoryItem::kBackwardTemporaries}},
     {"logits and loss",
      {MemoryItem::kLogits, MemoryItem::kLossTemporaries, MemoryItem::kLossTemporaries,
       MemoryItem::kLossTemporaries}},
     {"other",
      {MemoryItem::kMessages, MemoryItem::kWorkspace, MemoryItem::kRounding,
       MemoryItem::kRounding}}}};

Bytes sum_of(const Part& part, const cost::MemoryItems& items) {
  Bytes sum;
  for (std::size_t i = 0; i < part.items.size(); ++i) {
    if (i == 0 || part.items[i] != part.items[i - 1]) {
      sum += items[part.items[i]];
    }
  }
  return sum;
}

}  // namespace

Drawing memory_picture(std::span<const cost::RankMemory> ranks, Bytes limit, Bytes device,
                       const std::string& title) {
  Drawing drawing = canvas(title);
  Bytes most = device;
  for (const cost::RankMemory& rank : ranks) {
    most = std::max(most, rank.device);
  }
  const double scale = Canvas::kHigh / (most / 1_GiB);
  add_scale(0.0, most / 1_GiB, "GiB", drawing);
  const double room = Canvas::kWide / static_cast<double>(ranks.size());
  const double width = std::min(60.0, room * 0.7);
  const std::size_t labelled = std::max<std::size_t>(1, ranks.size() / 16);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const double middle = Canvas::kLeft + room * (static_cast<double>(i) + 0.5);
    double y = Canvas::kBottom;
    Bytes shown;
    for (std::size_t part = 0; part < kParts.size(); ++part) {
      Bytes bytes = sum_of(kParts[part], ranks[i].peak());
      shown += bytes;
      // What is no tensor (the context of the device, the holes of the allocator) stands with the
      // rest.
      if (part + 1 == kParts.size() && ranks[i].device > shown) {
        bytes += ranks[i].device - shown;
      }
      const double high = bytes / 1_GiB * scale;
      y -= high;
      drawing.rectangles.push_back({middle - width / 2.0, y, width, high, category_color(part)});
    }
    if (i % labelled == 0) {
      drawing.labels.push_back({middle, Canvas::kBottom + 16.0,
                                fmt::format("{}", ranks[i].pipeline_rank), Label::Anchor::kMiddle});
    }
  }
  for (const Bytes line : {limit, device}) {
    drawing.rectangles.push_back({Canvas::kLeft, Canvas::kBottom - line / 1_GiB * scale,
                                  Canvas::kWide, 1.0, Canvas::kLimit});
  }
  for (std::size_t part = 0; part < kParts.size(); ++part) {
    add_key(kParts.size() - 1 - part, category_color(part), std::string(kParts[part].name),
            drawing);
  }
  add_key(kParts.size(), Canvas::kLimit, "device, less headroom", drawing);
  drawing.labels.push_back({Canvas::kLeft + Canvas::kWide / 2.0, Canvas::kBottom + 38.0,
                            "pipeline rank, at its fullest moment", Label::Anchor::kMiddle});
  return drawing;
}

}  // namespace sextant::explain
