#include "diagnose/arrivals.h"

#include <algorithm>

namespace sextant::diagnose {

Arrivals arrivals_of(const metrics::Summary& summary, const Meetings& meetings) {
  Arrivals arrivals;
  arrivals.ranks.resize(summary.ranks.size());
  for (const Meeting& meeting : meetings.all) {
    arrivals.transfer_ns += meeting.transfer_ns;
    for (const metrics::SeenBy& seen : meeting.seen) {
      RankArrivals& rank = arrivals.ranks[seen.rank_place];
      const std::int64_t waited =
          std::max<std::int64_t>(0, seen.end_ns - seen.start_ns - meeting.transfer_ns);
      rank.meetings += 1;
      rank.last += waited == 0 ? 1 : 0;
      rank.waiting_ns += waited;
      arrivals.waiting_ns += waited;
    }
  }
  return arrivals;
}

}  // namespace sextant::diagnose
