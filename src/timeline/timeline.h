// Timeline: spans on lanes, the one type for predicted and for measured steps.
//
// A lane is one stream of one rank; a span is something that occupied it from start to end. What a
// span *is* (kind, name, bytes, flops) is a Label, stored once however often it repeats, so a span
// costs 24 bytes and ten million of them 240 MB. Times are whole nanoseconds from the Timeline's
// own origin: exact to add and compare, and 292 years long.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

namespace sextant::timeline {

enum class SpanKind : std::uint8_t {
  kCompute,        // a kernel that computes
  kCommunication,  // a collective or point-to-point transfer
  kCopy,           // memory copy or set, host to device, device to host
  kHost,           // work on the CPU: launch, data loading, Python
  kIdle,           // known idle (a bubble), where the source says so
  kMark,           // a range drawn by a person or a framework: step, microbatch
};
std::string_view name_of(SpanKind kind);

// What happened. Bytes and flops where known: nothing is not zero.
struct Label {
  SpanKind kind = SpanKind::kCompute;
  std::string name;
  std::optional<Bytes> bytes;
  std::optional<Flops> flops;
  bool operator==(const Label&) const = default;
};

struct Lane {
  RankId rank;
  StreamId stream;
  std::string name;  // "compute", "nccl tp"; for people
};

using LabelId = Id<struct LabelTag>;
using LaneId = Id<struct LaneTag>;

struct Span {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::uint32_t lane = 0;
  std::uint32_t label = 0;
  [[nodiscard]] std::int64_t end_ns() const { return start_ns + duration_ns; }
};
static_assert(sizeof(Span) == 24, "ten million spans must stay small");

class Timeline {
 public:
  // The lane of that rank and stream, made on first use; the first name given stays.
  LaneId lane(RankId rank, StreamId stream, std::string_view name = {});
  // The label's id; equal labels share one.
  LabelId label(const Label& label);
  // Appends a span. REQUIRES: ids of this timeline, duration ≥ 0.
  void add(LaneId lane, LabelId label, std::int64_t start_ns, std::int64_t duration_ns);
  void add(LaneId lane, LabelId label, Seconds start, Seconds duration);
  void reserve(std::size_t spans) { spans_.reserve(spans); }

  // Orders spans by lane, then start, then longer first (an enclosing span before what it
  // encloses).
  void sort();

  [[nodiscard]] std::span<const Span> spans() const { return spans_; }
  [[nodiscard]] std::span<const Lane> lanes() const { return lanes_; }
  [[nodiscard]] std::span<const Label> labels() const { return labels_; }
  [[nodiscard]] const Lane& lane_of(const Span& span) const { return lanes_[span.lane]; }
  [[nodiscard]] const Label& label_of(const Span& span) const { return labels_[span.label]; }

  // From the first start to the last end; zero when empty.
  [[nodiscard]] Seconds extent() const;
  // Time of the lane covered by at least one span of the kind. Overlaps count once.
  [[nodiscard]] Seconds busy(LaneId lane, SpanKind kind) const;

 private:
  struct LabelHash {
    std::size_t operator()(const Label& label) const;
  };
  std::vector<Span> spans_;
  std::vector<Lane> lanes_;
  std::vector<Label> labels_;
  std::map<std::pair<RankId, StreamId>, std::uint32_t> lane_ids_;
  std::unordered_map<Label, std::uint32_t, LabelHash> label_ids_;
};

}  // namespace sextant::timeline
