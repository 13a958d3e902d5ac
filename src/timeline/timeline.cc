#include "timeline/timeline.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace sextant::timeline {
namespace {

std::int64_t nanoseconds(Seconds time) {
  return std::llround(time / 1_ns);
}

template <typename T>
std::size_t held_bytes(const std::vector<T>& values) {
  return values.capacity() * sizeof(T);
}

// The last key makes the order total: what is left alike is alike in every byte, so an unstable
// sort, which needs no second buffer, gives the same order every time.
bool comes_before(const Span& a, const Span& b) {
  return std::tuple(a.lane, a.start_ns, b.duration_ns, a.what) <
         std::tuple(b.lane, b.start_ns, a.duration_ns, b.what);
}

}  // namespace

Timeline::Timeline(Bytes label_room) : label_room_(static_cast<std::size_t>(label_room.base())) {}

LaneId Timeline::lane(RankId rank, StreamId stream, std::string_view name, Place place) {
  const auto [at, is_new] =
      lane_ids_.try_emplace({rank, place, stream}, static_cast<std::uint32_t>(lanes_.size()));
  if (is_new) {
    lanes_.push_back({rank, stream, std::string(name), place});
    lane_text_ += name.size();
  }
  return {at->second};
}

std::optional<GroupId> Timeline::group(const Group& group) {
  if (const auto known = groups_.find(group)) {
    return GroupId{*known};
  }
  const std::size_t bytes = stored_bytes(group);
  if (bytes > label_room_ - std::min(label_room_, label_bytes_)) {
    return std::nullopt;
  }
  label_bytes_ += bytes;
  return GroupId{groups_.insert(group)};
}

LabelId Timeline::label(const Label& label) {
  if (const auto known = labels_.find(label)) {
    return {*known};
  }
  const std::size_t bytes = stored_bytes(label);
  if (bytes > label_room_ - std::min(label_room_, label_bytes_)) {
    folded_ += 1;
    const Label other{label.kind, std::string(kOtherName), {}, {}};
    const auto known = labels_.find(other);
    return {known ? *known : labels_.insert(other)};
  }
  label_bytes_ += bytes;
  return {labels_.insert(label)};
}

void Timeline::append(LaneId lane, std::uint32_t what, std::int64_t start_ns,
                      std::int64_t duration_ns) {
  assert(duration_ns >= 0 && start_ns >= -kFarthestNs && start_ns <= kFarthestNs - duration_ns);
  spans_.push_back({start_ns, duration_ns, static_cast<std::uint32_t>(lane.value), what});
  sorted_ = false;
}

void Timeline::add(LaneId lane, LabelId label, std::int64_t start_ns, std::int64_t duration_ns) {
  append(lane, static_cast<std::uint32_t>(label.value), start_ns, duration_ns);
}

void Timeline::add(LaneId lane, const Occurrence& what, std::int64_t start_ns,
                   std::int64_t duration_ns) {
  if (!what.correlation && !what.sequence) {
    add(lane, what.label, start_ns, duration_ns);
    return;
  }
  assert(facts_.size() < kHasFacts);
  Facts facts;
  facts.label = static_cast<std::uint32_t>(what.label.value);
  if (what.correlation) {
    facts.correlation = what.correlation->value;
    facts.label |= kIsCorrelated;
  }
  if (what.sequence) {
    facts.sequence = static_cast<std::uint32_t>(sequences_.size());
    sequences_.push_back(what.sequence->value);
  }
  append(lane, kHasFacts | static_cast<std::uint32_t>(facts_.size()), start_ns, duration_ns);
  facts_.push_back(facts);
}

void Timeline::add(LaneId lane, LabelId label, Seconds start, Seconds duration) {
  // Both ends are rounded, not the length: neighbours that touch stay touching.
  const std::int64_t start_ns = nanoseconds(start);
  add(lane, label, start_ns, nanoseconds(start + duration) - start_ns);
}

void Timeline::reserve(std::size_t spans, std::size_t with_facts) {
  spans_.reserve(spans);
  facts_.reserve(with_facts);
}

void Timeline::set_ranks(std::span<const RankId> ranks) {
  assert(ranks.size() == lanes_.size());
  std::vector<std::uint32_t> survivor(lanes_.size());
  bool is_one_each = true;
  lane_ids_.clear();
  for (const bool is_moved : {false, true}) {
    for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
      if ((lanes_[i].rank != ranks[i]) == is_moved) {
        const Lane& lane = lanes_[i];
        survivor[i] = lane_ids_.try_emplace({ranks[i], lane.place, lane.stream}, i).first->second;
        is_one_each = is_one_each && survivor[i] == i;
      }
    }
  }
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i].rank = ranks[i];
  }
  if (!is_one_each) {
    join_lanes(survivor);
  }
}

// `survivor`: of each lane, the one that its spans are to lie on.
void Timeline::join_lanes(const std::vector<std::uint32_t>& survivor) {
  std::vector<std::uint32_t> place(survivor.size());
  std::vector<Lane> kept;
  for (std::uint32_t i = 0; i < survivor.size(); ++i) {
    if (survivor[i] == i) {
      place[i] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(std::move(lanes_[i]));
    } else {
      lane_text_ -= lanes_[i].name.size();
    }
  }
  for (Span& span : spans_) {
    span.lane = place[survivor[span.lane]];
  }
  for (auto& [key, lane] : lane_ids_) {
    lane = place[lane];
  }
  lanes_ = std::move(kept);
  sorted_ = false;
}

void Timeline::name_lane(LaneId lane, std::string_view name) {
  Lane& named = lanes_[static_cast<std::size_t>(lane.value)];
  lane_text_ += name.size() - named.name.size();
  named.name = name;
}

void Timeline::shift(std::int64_t by_ns) {
  for (Span& span : spans_) {
    span.start_ns += by_ns;
    assert(span.start_ns >= -kFarthestNs && span.start_ns <= kFarthestNs - span.duration_ns);
  }
}

Occurrence Timeline::occurrence_of(const Span& span) const {
  Occurrence what{.label = {label_number(span)}};
  if ((span.what & kHasFacts) != 0) {
    const Facts& facts = facts_[span.what & ~kHasFacts];
    if ((facts.label & kIsCorrelated) != 0) {
      what.correlation = CorrelationId{facts.correlation};
    }
    if (facts.sequence != kNoSequence) {
      what.sequence = SequenceNumber{sequences_[facts.sequence]};
    }
  }
  return what;
}

void Timeline::sort() {
  if (!std::is_sorted(spans_.begin(), spans_.end(), comes_before)) {
    std::sort(spans_.begin(), spans_.end(), comes_before);
  }
  first_.assign(1, 0);
  first_.reserve(lanes_.size() + 1);
  sums_.assign(lanes_.size(), {});
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    first_.push_back(add_up(static_cast<std::uint32_t>(lane), first_.back(), sums_[lane]));
  }
  sorted_ = true;
}

std::size_t Timeline::add_up(std::uint32_t lane, std::size_t at, LaneSums& sums) const {
  std::array<std::int64_t, kSpanKinds> reached{};
  reached.fill(-kFarthestNs);
  for (; at < spans_.size() && spans_[at].lane == lane; ++at) {
    const Span& span = spans_[at];
    const auto kind = static_cast<std::size_t>(label_of(span).kind);
    RunningSum& sum = sums[kind];
    sum.spans += 1;
    sum.total_ns += static_cast<double>(span.duration_ns);
    sum.busy_ns +=
        std::max<std::int64_t>(0, span.end_ns() - std::max(span.start_ns, reached[kind]));
    reached[kind] = std::max(reached[kind], span.end_ns());
  }
  return at;
}

std::span<const Span> Timeline::spans_of(LaneId lane) const {
  assert(sorted_);
  const auto number = static_cast<std::size_t>(lane.value);
  if (number >= sums_.size()) {
    return {};  // made after the last span was added
  }
  return spans().subspan(first_[number], first_[number + 1] - first_[number]);
}

KindSum Timeline::sum(LaneId lane, SpanKind kind) const {
  assert(sorted_);
  const auto number = static_cast<std::size_t>(lane.value);
  if (number >= sums_.size()) {
    return {};
  }
  const RunningSum& sum = sums_[number][static_cast<std::size_t>(kind)];
  return {sum.spans, sum.total_ns * 1_ns, static_cast<double>(sum.busy_ns) * 1_ns};
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

Bytes Timeline::memory() const {
  // Of a node of a red-black tree: three pointers, the colour, key and value.
  constexpr std::size_t kLaneNode = 4 * sizeof(void*) + 3 * sizeof(std::int64_t);
  const std::size_t tables = held_bytes(spans_) + held_bytes(facts_) + held_bytes(sequences_);
  const std::size_t lanes = held_bytes(lanes_) + lane_text_ + lanes_.size() * kLaneNode +
                            held_bytes(first_) + held_bytes(sums_);
  // Of text and lists, what labels and groups point to.
  const std::size_t pointed =
      label_bytes_ - std::min(label_bytes_, labels().size_bytes() + groups().size_bytes());
  return Bytes(
      static_cast<double>(tables + lanes + labels_.held_bytes() + groups_.held_bytes() + pointed));
}

}  // namespace sextant::timeline
