// The further readings: lines and their events, and where their spans go.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "profile/xplane_parts.h"

namespace sextant::profile {
namespace {

constexpr std::size_t kMostStatsOfEvent = 100;

// To the nearest nanosecond; both ends alike, so that neighbours that touch stay touching.
std::int64_t whole_ns(std::int64_t picoseconds) {
  const std::int64_t half = picoseconds < 0 ? -500 : 500;
  return (picoseconds + half) / 1000;
}

}  // namespace

void XplaneReading::take_stat(Wire& fields, const XPlane& plane, XEvent& event) const {
  auto [stat, source] = read_stat(fields);
  resolve_stat(plane, source, stat);
  if (stat.kind != XStatKind::kOther && event.stats.size() < kMostStatsOfEvent) {
    event.stats.push_back(std::move(stat));
  }
}

// Source: tsl/profiler/protobuf/xplane.proto, XEvent.
std::optional<XEvent> XplaneReading::read_event(Wire& fields, const XPlane& plane,
                                                const XLine& line) {
  XEvent event;
  std::int64_t offset_ps = 0;
  std::int64_t duration_ps = 0;
  const bool is_whole = fields.each([&](Wire& inner) {
    switch (inner.field()) {
      case 1:
        event.metadata = inner.integer();
        break;
      case 2:
        offset_ps = inner.integer();
        break;
      case 3:
        duration_ps = inner.integer();
        break;
      case 4:
        take_stat(inner, plane, event);
        break;
      case 5:
        event.is_sum = true;
        break;
      default:
        break;
    }
  });
  if (!is_whole) {
    losses_.add("events that are damaged");
    return std::nullopt;
  }
  // An offset of picoseconds reaches 106 days; lines begin within the Timeline's range.
  constexpr std::int64_t kFarthest = timeline::Timeline::kFarthestNs / 2;
  constexpr std::int64_t kMostPs = std::int64_t{1} << 61U;
  const bool is_near = line.timestamp_ns > -kFarthest && line.timestamp_ns < kFarthest + shift_ns_;
  const std::int64_t base = is_near ? line.timestamp_ns - shift_ns_ : 0;
  if (!is_near || duration_ps < 0 || duration_ps > kMostPs || offset_ps < -kMostPs ||
      offset_ps > kMostPs || base < -kFarthest) {
    losses_.add("events that end before they start, or centuries away");
    return std::nullopt;
  }
  event.start_ns = base + whole_ns(offset_ps);
  event.end_ns = base + whole_ns(offset_ps + duration_ps);
  return event;
}

void XplaneReading::read_line(Wire& fields, const XPlane& plane,
                              const std::function<bool(const XLine&)>& wants,
                              const std::function<void(const XLine&, const XEvent&)>& take) {
  XLine line;
  std::optional<bool> is_wanted;
  std::optional<XEvent> event;
  const bool is_whole = fields.each([&](Wire& inner) {
    switch (inner.field()) {
      case 1:
        line.id = inner.integer();
        break;
      case 2:
        line.name = inner.text(200);
        break;
      case 3:
        line.timestamp_ns = inner.integer();
        break;
      case 4:
        // What the line is comes before its events.
        is_wanted = is_wanted ? *is_wanted : wants(line);
        event = *is_wanted ? read_event(inner, plane, line) : std::nullopt;
        losses_.add("events of lines that repeat others (framework operators, name scopes …)",
                    *is_wanted ? 0 : 1);
        losses_.add("events that are sums of many", event && event->is_sum ? 1 : 0);
        if (event && !event->is_sum) {
          take(line, *event);
        }
        break;
      default:
        break;
    }
  });
  if (!is_whole) {
    losses_.add("lines that are damaged: the rest of them");
  }
}

std::optional<timeline::LaneId> XplaneReading::lane(RankId rank, timeline::Place place,
                                                    std::int64_t stream, std::string_view name) {
  const LaneKey key{rank, place, stream};
  if (const auto known = lanes_.find(key); known != lanes_.end()) {
    return known->second;
  }
  if (static_cast<std::int64_t>(lanes_.size()) >= options_.limits.lanes) {
    losses_.add("events of lines beyond the most that are read");
    return std::nullopt;
  }
  const timeline::LaneId made = out_.timeline.lane(rank, {stream}, name, place);
  lanes_.emplace(key, made);
  return made;
}

void XplaneReading::add(timeline::LaneId lane, timeline::LabelId label, std::int64_t correlation,
                        std::int64_t start_ns, std::int64_t end_ns) {
  if (spans_left_ <= 0) {
    losses_.add("spans beyond the most that are read");
    return;
  }
  --spans_left_;
  timeline::Occurrence what{.label = label};
  if (correlation != 0) {
    what.correlation = timeline::CorrelationId{correlation};
  }
  out_.timeline.add(lane, what, start_ns, end_ns - start_ns);
}

}  // namespace sextant::profile
