#include "timeline/thinned.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace sextant::timeline {
namespace {

bool is_taken(const Timeline& from, const Span& span, const Thinning& thinning) {
  const auto fits = [](std::int64_t at_ns) {
    return at_ns >= -Timeline::kFarthestNs && at_ns <= Timeline::kFarthestNs;
  };
  const RankId rank = from.lane_of(span).rank;
  return span.start_ns < thinning.to_ns && span.end_ns() > thinning.from_ns &&
         fits(span.start_ns + thinning.shift_ns) && fits(span.end_ns() + thinning.shift_ns) &&
         (!thinning.ranks || std::ranges::find(*thinning.ranks, rank) != thinning.ranks->end());
}

// Numbers of the spans of a place that count, the longest first, cut at `most`.
std::vector<std::uint32_t> longest_of(const Timeline& from, Place place, const Thinning& thinning,
                                      std::size_t most) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < from.spans().size(); ++i) {
    const Span& span = from.spans()[i];
    if (from.lane_of(span).place == place && is_taken(from, span, thinning)) {
      numbers.push_back(i);
    }
  }
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
    const Span& one = from.spans()[a];
    const Span& other = from.spans()[b];
    return std::tuple(-one.duration_ns, one.start_ns, a) <
           std::tuple(-other.duration_ns, other.start_ns, b);
  };
  const std::size_t kept = std::min(most, numbers.size());
  std::partial_sort(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(kept),
                    numbers.end(), is_before);
  numbers.resize(kept);
  return numbers;
}

Label label_for(const Timeline& from, const Span& span, Timeline& into) {
  Label label = from.label_of(span);
  if (label.collective && label.collective->group) {
    label.collective->group = into.group(from.group_of(*label.collective->group));
  }
  return label;
}

}  // namespace

void add_longest(const Timeline& from, const Thinning& thinning, Timeline& into) {
  std::vector<std::uint32_t> numbers =
      longest_of(from, Place::kDevice, thinning, thinning.most / 2);
  const std::vector<std::uint32_t> hosts =
      longest_of(from, Place::kHost, thinning, thinning.most - numbers.size());
  numbers.insert(numbers.end(), hosts.begin(), hosts.end());
  std::ranges::sort(numbers);
  for (const std::uint32_t number : numbers) {
    const Span& span = from.spans()[number];
    const Lane& lane = from.lane_of(span);
    Occurrence what = from.occurrence_of(span);
    what.label = into.label(label_for(from, span, into));
    into.add(into.lane(lane.rank, lane.stream, lane.name, lane.place), what,
             span.start_ns + thinning.shift_ns, span.duration_ns);
  }
}

}  // namespace sextant::timeline
