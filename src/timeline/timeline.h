// Timeline: spans on lanes, the one type for predicted and for measured steps.
//
// A lane is one stream of one rank, or one thread of its host; a span is something that occupied it
// from start to end. What a span *is* (kind, name, bytes, flops, the collective) is a Label, stored
// once however often it repeats. What differs from one occurrence to the next (which launch, which
// of a group's collectives) is kept apart, for the spans that have it. Times are whole nanoseconds
// from the Timeline's own origin: exact to add and compare, 146 years to either side.
//
// Memory, which memory() tells: a span 24 bytes; with a correlation or a sequence number 16 more,
// with a sequence number another 8: ten million spans 240 to 480 MB. Without reserve() it is up to
// twice that, three times while it grows. sort() needs nothing beside them. Labels and groups take
// what the constructor allows; what does not fit keeps its kind and loses the rest (label()). A
// lane takes some 300 bytes: who reads foreign bytes bounds how many there are, as the number of
// spans.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "timeline/interned.h"
#include "timeline/label.h"

namespace sextant::timeline {

// Where the work of a lane is done. A thread of the host and a stream may have one number.
enum class Place : std::uint8_t { kDevice, kHost };

struct Lane {
  RankId rank;
  StreamId stream;   // of the device, or the host's thread
  std::string name;  // "compute", "nccl tp"; for people
  Place place = Place::kDevice;
};
using LaneId = Id<struct LaneTag>;

// Joins a call on the host with what it started, on one rank (launches.h).
using CorrelationId = Id<struct CorrelationTag>;
// Which of the collectives of its group, in the order the group issues them.
using SequenceNumber = Id<struct SequenceTag>;

// A label and what is this occurrence's own.
struct Occurrence {
  LabelId label;
  std::optional<CorrelationId> correlation = std::nullopt;
  std::optional<SequenceNumber> sequence = std::nullopt;
  bool operator==(const Occurrence&) const = default;
};

struct Span {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::uint32_t lane = 0;
  std::uint32_t what = 0;  // the Timeline's: ask label_of() and occurrence_of()
  [[nodiscard]] std::int64_t end_ns() const { return start_ns + duration_ns; }
};
static_assert(sizeof(Span) == 24, "ten million spans must stay small");

// The spans of one kind on one lane.
struct KindSum {
  std::int64_t spans = 0;
  Seconds total;  // overlaps count as often as there are spans
  Seconds busy;   // overlaps count once: when at least one ran
};

class Timeline {
 public:
  // Starts and ends lie within this of the origin, so that no sum or difference overflows.
  static constexpr std::int64_t kFarthestNs = (std::int64_t{1} << 62U) - 1;
  // A million labels with names of 60 characters; profiles have some thousands.
  static constexpr Bytes kLabelRoom = 256_MiB;
  static constexpr std::string_view kOtherName = "(other)";

  // `label_room`: what labels and groups may take, each as stored_bytes() says; holding them takes
  // up to twice that.
  explicit Timeline(Bytes label_room);
  Timeline() : Timeline(kLabelRoom) {}

  // The lane of that rank, stream and place, made on first use; the first name given stays.
  LaneId lane(RankId rank, StreamId stream, std::string_view name = {},
              Place place = Place::kDevice);
  // The group's id; equal groups share one. Nothing where a new one finds no room.
  std::optional<GroupId> group(const Group& group);
  // The label's id; equal labels share one. A new one that finds no room is counted in folded() and
  // becomes the label of its kind that is named kOtherName and says nothing else: sums by kind stay
  // what they are.
  LabelId label(const Label& label);
  [[nodiscard]] std::int64_t folded() const { return folded_; }

  // Appends a span. REQUIRES: ids of this timeline, duration ≥ 0, start and end no farther than
  // kFarthestNs; fewer than 2^32 spans, and 2^31 with facts of their own.
  void add(LaneId lane, const Occurrence& what, std::int64_t start_ns, std::int64_t duration_ns);
  void add(LaneId lane, LabelId label, std::int64_t start_ns, std::int64_t duration_ns);
  void add(LaneId lane, LabelId label, Seconds start, Seconds duration);
  // `with_facts`: those of them that have a correlation or a sequence number.
  void reserve(std::size_t spans, std::size_t with_facts = 0);

  // For who learns a lane's name after its first span.
  void name_lane(LaneId lane, std::string_view name);
  // Gives each lane the rank of its place in the list. Lanes that are then one lane of one rank
  // become one, under the name of that which had the rank already, or came first. For who learns of
  // whom he read at the end. Walks all spans where lanes become one. REQUIRES: one for each lane.
  void set_ranks(std::span<const RankId> ranks);
  // Adds to the start of every span. REQUIRES: none leaves what add() allows.
  void shift(std::int64_t by_ns);

  // Orders spans by lane, then start, then longer first (an enclosing span before what it encloses)
  // and adds them up. Alike in all of these, spans come in the order in which their labels came,
  // and after them those with facts of their own, as added. Who fills a Timeline for others sorts
  // it.
  void sort();
  // Until the next add().
  [[nodiscard]] bool is_sorted() const { return sorted_; }

  [[nodiscard]] std::span<const Span> spans() const { return spans_; }
  [[nodiscard]] std::span<const Lane> lanes() const { return lanes_; }
  [[nodiscard]] std::span<const Label> labels() const { return labels_.values(); }
  [[nodiscard]] std::span<const Group> groups() const { return groups_.values(); }
  [[nodiscard]] const Lane& lane_of(const Span& span) const { return lanes_[span.lane]; }
  [[nodiscard]] const Label& label_of(const Span& span) const {
    return labels_.values()[label_number(span)];
  }
  [[nodiscard]] Occurrence occurrence_of(const Span& span) const;
  // REQUIRES: an id of this timeline.
  [[nodiscard]] const Group& group_of(GroupId group) const {
    return groups_.values()[static_cast<std::size_t>(group.value)];
  }

  // The lane's spans, by start, without a search. REQUIRES: is_sorted().
  [[nodiscard]] std::span<const Span> spans_of(LaneId lane) const;
  // The lane's spans of the kind, added up by sort(). REQUIRES: is_sorted().
  [[nodiscard]] KindSum sum(LaneId lane, SpanKind kind) const;
  // Time of the lane covered by at least one span of the kind. REQUIRES: is_sorted().
  [[nodiscard]] Seconds busy(LaneId lane, SpanKind kind) const { return sum(lane, kind).busy; }
  // From the first start to the last end; zero when empty. Walks all spans.
  [[nodiscard]] Seconds extent() const;

  // All that it holds, room that it keeps for more included.
  [[nodiscard]] Bytes memory() const;

 private:
  // A span's `what` with this bit is the number of its Facts, without it that of its label.
  static constexpr std::uint32_t kHasFacts = std::uint32_t{1} << 31U;
  // In Facts::label: there is a correlation.
  static constexpr std::uint32_t kIsCorrelated = kHasFacts;
  static constexpr std::uint32_t kNoSequence = 0xffffffffU;
  struct Facts {
    std::int64_t correlation = 0;
    std::uint32_t label = 0;               // its number, and kIsCorrelated
    std::uint32_t sequence = kNoSequence;  // place in sequences_
  };
  static_assert(sizeof(Facts) == 16, "and so must what most of them have");
  struct RunningSum {
    std::int64_t spans = 0;
    double total_ns = 0.0;
    std::int64_t busy_ns = 0;
  };
  using LaneSums = std::array<RunningSum, kSpanKinds>;

  [[nodiscard]] std::uint32_t label_number(const Span& span) const {
    return (span.what & kHasFacts) == 0 ? span.what
                                        : facts_[span.what & ~kHasFacts].label & ~kIsCorrelated;
  }
  void append(LaneId lane, std::uint32_t what, std::int64_t start_ns, std::int64_t duration_ns);
  void join_lanes(const std::vector<std::uint32_t>& survivor);
  // Sums over the spans from `at` on that lie on the lane; where they end.
  std::size_t add_up(std::uint32_t lane, std::size_t at, LaneSums& sums) const;

  std::vector<Span> spans_;
  std::vector<Facts> facts_;
  std::vector<std::int64_t> sequences_;
  bool sorted_ = true;
  std::vector<std::size_t> first_;  // of a lane's spans, as of sort(); one more at the end
  std::vector<LaneSums> sums_;      // of a lane, as of sort()
  std::vector<Lane> lanes_;
  std::map<std::tuple<RankId, Place, StreamId>, std::uint32_t> lane_ids_;
  std::size_t lane_text_ = 0;
  Interned<Group> groups_;
  Interned<Label> labels_;
  std::size_t label_room_ = 0;
  std::size_t label_bytes_ = 0;  // of groups and labels
  std::int64_t folded_ = 0;
};

}  // namespace sextant::timeline
