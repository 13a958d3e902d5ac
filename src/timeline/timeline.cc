#include "timeline/timeline.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <utility>

namespace sextant::timeline {
namespace {

std::int64_t nanoseconds(Seconds time) {
  return std::llround(time / 1_ns);
}

}  // namespace

std::string_view name_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::kCompute:
      return "compute";
    case SpanKind::kCommunication:
      return "communication";
    case SpanKind::kCopy:
      return "copy";
    case SpanKind::kHost:
      return "host";
    case SpanKind::kIdle:
      return "idle";
    case SpanKind::kMark:
      return "mark";
  }
  return "?";
}

std::size_t Timeline::LabelHash::operator()(const Label& label) const {
  const auto mix = [](std::size_t seed, std::size_t value) {
    return seed ^ (value + 0x9e3779b97f4a7c15U + (seed << 6U) + (seed >> 2U));
  };
  std::size_t hash = std::hash<std::string>()(label.name);
  hash = mix(hash, static_cast<std::size_t>(label.kind));
  hash = mix(hash, label.bytes ? std::hash<double>()(label.bytes->base()) : 1U);
  return mix(hash, label.flops ? std::hash<double>()(label.flops->base()) : 2U);
}

LaneId Timeline::lane(RankId rank, StreamId stream, std::string_view name) {
  const auto [at, is_new] =
      lane_ids_.try_emplace({rank, stream}, static_cast<std::uint32_t>(lanes_.size()));
  if (is_new) {
    lanes_.push_back({rank, stream, std::string(name)});
  }
  return {at->second};
}

LabelId Timeline::label(const Label& label) {
  const auto [at, is_new] =
      label_ids_.try_emplace(label, static_cast<std::uint32_t>(labels_.size()));
  if (is_new) {
    labels_.push_back(label);
  }
  return {at->second};
}

void Timeline::add(LaneId lane, LabelId label, std::int64_t start_ns, std::int64_t duration_ns) {
  assert(duration_ns >= 0);
  spans_.push_back({start_ns, duration_ns, static_cast<std::uint32_t>(lane.value),
                    static_cast<std::uint32_t>(label.value)});
}

void Timeline::add(LaneId lane, LabelId label, Seconds start, Seconds duration) {
  // Both ends are rounded, not the length: neighbours that touch stay touching.
  const std::int64_t start_ns = nanoseconds(start);
  add(lane, label, start_ns, nanoseconds(start + duration) - start_ns);
}

void Timeline::sort() {
  std::stable_sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
    return std::tuple(a.lane, a.start_ns, -a.duration_ns) <
           std::tuple(b.lane, b.start_ns, -b.duration_ns);
  });
}

Seconds Timeline::extent() const {
  if (spans_.empty()) {
    return Seconds();
  }
  std::int64_t first = spans_.front().start_ns;
  std::int64_t last = spans_.front().end_ns();
  for (const Span& span : spans_) {
    first = std::min(first, span.start_ns);
    last = std::max(last, span.end_ns());
  }
  return static_cast<double>(last - first) * 1_ns;
}

Seconds Timeline::busy(LaneId lane, SpanKind kind) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> intervals;
  for (const Span& span : spans_) {
    if (span.lane == lane.value && labels_[span.label].kind == kind) {
      intervals.emplace_back(span.start_ns, span.end_ns());
    }
  }
  std::sort(intervals.begin(), intervals.end());
  std::int64_t covered = 0;
  std::int64_t reached = intervals.empty() ? 0 : intervals.front().first;
  for (const auto& [start, end] : intervals) {
    covered += std::max<std::int64_t>(0, end - std::max(start, reached));
    reached = std::max(reached, end);
  }
  return static_cast<double>(covered) * 1_ns;
}

}  // namespace sextant::timeline
