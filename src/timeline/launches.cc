#include "timeline/launches.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

namespace sextant::timeline {
namespace {

struct Correlated {
  std::int64_t correlation = 0;
  std::uint32_t rank = 0;  // numbered as ranks come
  std::uint32_t span = 0;
};
static_assert(sizeof(Correlated) == 16, "there may be ten million");

bool is_together(const Correlated& a, const Correlated& b) {
  return a.rank == b.rank && a.correlation == b.correlation;
}

std::vector<std::uint32_t> rank_numbers(const Timeline& timeline) {
  std::map<RankId, std::uint32_t> known;
  std::vector<std::uint32_t> of_lane;
  for (const Lane& lane : timeline.lanes()) {
    of_lane.push_back(
        known.try_emplace(lane.rank, static_cast<std::uint32_t>(known.size())).first->second);
  }
  return of_lane;
}

std::vector<Correlated> correlated_spans(const Timeline& timeline) {
  const std::vector<std::uint32_t> rank_of_lane = rank_numbers(timeline);
  const std::span<const Span> spans = timeline.spans();
  std::vector<Correlated> found;
  // Counted first: growing would take three times as much for a moment.
  found.reserve(
      static_cast<std::size_t>(std::count_if(spans.begin(), spans.end(), [&](const Span& span) {
        return timeline.occurrence_of(span).correlation.has_value();
      })));
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (const auto correlation = timeline.occurrence_of(spans[i]).correlation) {
      found.push_back(
          {correlation->value, rank_of_lane[spans[i].lane], static_cast<std::uint32_t>(i)});
    }
  }
  std::sort(found.begin(), found.end(), [](const Correlated& a, const Correlated& b) {
    return std::tuple(a.rank, a.correlation, a.span) < std::tuple(b.rank, b.correlation, b.span);
  });
  return found;
}

// Pairs what one correlation of one rank joins.
void add_launches(const Timeline& timeline, std::span<const Correlated> together,
                  std::vector<Launch>& launches) {
  const std::span<const Span> spans = timeline.spans();
  const auto is_call = [&](const Correlated& one) {
    return timeline.label_of(spans[one.span]).kind == SpanKind::kHost;
  };
  const Correlated* call = nullptr;
  for (const Correlated& one : together) {
    const auto is_before = [&](const Span& a, const Span& b) {
      return std::tuple(a.start_ns, b.duration_ns) < std::tuple(b.start_ns, a.duration_ns);
    };
    if (is_call(one) && (call == nullptr || is_before(spans[one.span], spans[call->span]))) {
      call = &one;
    }
  }
  for (const Correlated& one : together) {
    if (call != nullptr && !is_call(one)) {
      launches.push_back({call->span, one.span});
    }
  }
}

}  // namespace

std::vector<Launch> launches(const Timeline& timeline) {
  const std::vector<Correlated> found = correlated_spans(timeline);
  std::vector<Launch> launches;
  for (auto from = found.begin(); from != found.end();) {
    const auto to = std::find_if(from, found.end(),
                                 [&](const Correlated& one) { return !is_together(one, *from); });
    add_launches(timeline, {from, to}, launches);
    from = to;
  }
  std::sort(launches.begin(), launches.end(),
            [](const Launch& a, const Launch& b) { return a.started < b.started; });
  return launches;
}

}  // namespace sextant::timeline
