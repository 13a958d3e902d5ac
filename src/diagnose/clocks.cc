#include "diagnose/clocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "base/statistics.h"
#include "diagnose/medians.h"

namespace sextant::diagnose {
namespace {

using metrics::SeenBy;
using metrics::Summary;

// A moment on a rank's clock and what it is on the reference's.
struct Point {
  std::int64_t local_ns = 0;
  std::int64_t reference_ns = 0;
};

// Slopes between points half of them apart, as Theil and Sen's but n/2 of them: linear, and as
// robust against a quarter of outliers. Source: Theil 1950; Sen 1968, JASA 63.
double median_drift(std::span<const Point> points) {
  const std::size_t half = points.size() / 2;
  std::vector<double> slopes;
  for (std::size_t i = 0; i + half < points.size(); ++i) {
    const Point& a = points[i];
    const Point& b = points[i + half];
    if (b.local_ns > a.local_ns) {
      const std::int64_t gained = (b.reference_ns - b.local_ns) - (a.reference_ns - a.local_ns);
      slopes.push_back(static_cast<double>(gained) / static_cast<double>(b.local_ns - a.local_ns));
    }
  }
  const double drift = median(slopes).value_or(0.0);
  return std::abs(drift) <= kMostDrift ? drift : 0.0;
}

RankClock fitted(std::vector<Point> points) {
  std::ranges::sort(points, {}, &Point::local_ns);
  RankClock clock{.is_aligned = true, .base_ns = points.front().local_ns, .ends = points.size()};
  // A slope needs more points than an outlier or two can turn.
  constexpr std::size_t kFewestForDrift = 8;
  clock.drift = points.size() >= kFewestForDrift ? median_drift(points) : 0.0;
  std::vector<std::int64_t> offsets;
  for (const Point& point : points) {
    const double since = static_cast<double>(point.local_ns - clock.base_ns);
    offsets.push_back(point.reference_ns - point.local_ns - std::llround(clock.drift * since));
  }
  clock.offset_ns = median_ns(offsets);
  return clock;
}

class ClockFitter {
 public:
  ClockFitter(const Summary& summary, const Meetings& meetings) : meetings_(meetings) {
    clocks_.ranks.resize(summary.ranks.size());
    std::vector<std::size_t> met(summary.ranks.size(), 0);
    for (const Meeting& meeting : meetings.all) {
      for (const SeenBy& seen : meeting.seen) {
        met[seen.rank_place] += ends_together(meeting) ? std::size_t{1} : std::size_t{0};
      }
    }
    clocks_.reference = static_cast<std::uint32_t>(std::ranges::max_element(met) - met.begin());
    clocks_.ranks[clocks_.reference].is_aligned = true;
  }

  Clocks take() {
    // From rank to rank outwards; then once more, from the medians of all that were reached, so
    // that the reference's own late ends weigh no more than others'.
    while (reach_by_ends() || reach_by_messages()) {
    }
    fit_again();
    note_residuals();
    clocks_.unaligned = static_cast<std::size_t>(std::ranges::count_if(
        clocks_.ranks, [](const RankClock& clock) { return !clock.is_aligned; }));
    return std::move(clocks_);
  }

 private:
  // When it ended by those of its members that are aligned; nothing if none is.
  [[nodiscard]] std::optional<std::int64_t> end_of(const Meeting& meeting) const {
    std::vector<std::int64_t> ends;
    for (const SeenBy& seen : meeting.seen) {
      const RankClock& clock = clocks_.ranks[seen.rank_place];
      if (clock.is_aligned) {
        ends.push_back(clock.on_reference(seen.end_ns));
      }
    }
    return ends.empty() ? std::nullopt : std::optional(median_ns(ends));
  }

  // The points of each rank, of those that `wants`.
  template <typename Wants>
  [[nodiscard]] std::vector<std::vector<Point>> points_of(const Wants& wants) const {
    std::vector<std::vector<Point>> points(clocks_.ranks.size());
    for (const Meeting& meeting : meetings_.all) {
      const bool any =
          ends_together(meeting) && std::ranges::any_of(meeting.seen, [&](const SeenBy& seen) {
            return wants(seen.rank_place);
          });
      const auto end = any ? end_of(meeting) : std::nullopt;
      for (const SeenBy& seen : meeting.seen) {
        if (end && wants(seen.rank_place)) {
          points[seen.rank_place].push_back({seen.end_ns, *end});
        }
      }
    }
    return points;
  }

  bool reach_by_ends() {
    const auto points =
        points_of([&](std::uint32_t rank) { return !clocks_.ranks[rank].is_aligned; });
    bool any = false;
    for (std::size_t rank = 0; rank < points.size(); ++rank) {
      if (points[rank].size() >= kFewestEnds) {
        clocks_.ranks[rank] = fitted(points[rank]);
        any = true;
      }
    }
    return any;
  }

  // How much later than the reference's the rank's clock shows a moment lies between these.
  struct Bounds {
    std::int64_t least = std::numeric_limits<std::int64_t>::min();
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::int64_t base_ns = 0;
  };

  bool reach_by_messages() {
    std::map<std::uint32_t, Bounds> bounds;
    for (const Meeting& meeting : meetings_.all) {
      if (!meeting.is_message) {
        continue;
      }
      for (const bool turned : {false, true}) {
        const SeenBy& known = meeting.seen[turned ? 1 : 0];
        const SeenBy& other = meeting.seen[turned ? 0 : 1];
        if (!clocks_.ranks[known.rank_place].is_aligned ||
            clocks_.ranks[other.rank_place].is_aligned) {
          continue;
        }
        // Whoever sends: neither end is done before the other has begun.
        const RankClock& clock = clocks_.ranks[known.rank_place];
        Bounds& bound = bounds[other.rank_place];
        bound.least = std::max(bound.least, other.start_ns - clock.on_reference(known.end_ns));
        bound.most = std::min(bound.most, other.end_ns - clock.on_reference(known.start_ns));
        bound.base_ns = other.start_ns;
      }
    }
    for (const auto& [rank, bound] : bounds) {
      const std::int64_t later = bound.least + (bound.most - bound.least) / 2;
      clocks_.ranks[rank] = {.is_aligned = true, .base_ns = bound.base_ns, .offset_ns = -later};
    }
    return !bounds.empty();
  }

  void fit_again() {
    const auto points = points_of([&](std::uint32_t rank) {
      return clocks_.ranks[rank].is_aligned && clocks_.ranks[rank].ends > 0;
    });
    for (std::size_t rank = 0; rank < points.size(); ++rank) {
      if (points[rank].size() >= kFewestEnds) {
        clocks_.ranks[rank] = fitted(points[rank]);
      }
    }
  }

  void note_residuals() {
    std::vector<double> apart;
    for (const Meeting& meeting : meetings_.all) {
      const auto end = ends_together(meeting) ? end_of(meeting) : std::nullopt;
      for (const SeenBy& seen : meeting.seen) {
        const RankClock& clock = clocks_.ranks[seen.rank_place];
        if (end && clock.is_aligned) {
          apart.push_back(std::abs(static_cast<double>(clock.on_reference(seen.end_ns) - *end)));
        }
      }
    }
    const auto typical = quantile(apart, 0.5);
    const auto high = quantile(apart, 0.95);
    if (typical && high) {
      clocks_.typical_residual = *typical * 1_ns;
      clocks_.high_residual = *high * 1_ns;
    }
  }

  const Meetings& meetings_;
  Clocks clocks_;
};

}  // namespace

std::int64_t RankClock::on_reference(std::int64_t at_ns) const {
  return at_ns + offset_ns + std::llround(drift * static_cast<double>(at_ns - base_ns));
}

Clocks clocks_of(const Summary& summary, const Meetings& meetings) {
  if (meetings.shares_clock || summary.ranks.empty()) {
    return {.ranks = std::vector<RankClock>(summary.ranks.size(), {.is_aligned = true})};
  }
  return ClockFitter(summary, meetings).take();
}

}  // namespace sextant::diagnose
