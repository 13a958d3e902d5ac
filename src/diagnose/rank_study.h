// What several ranks of one job say together, worked out once for all rules about ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/arrivals.h"
#include "diagnose/chain.h"
#include "diagnose/clocks.h"
#include "diagnose/cross_path.h"
#include "diagnose/stages.h"
#include "diagnose/what_if.h"

namespace sextant::diagnose {

struct RankStudy {
  Meetings meetings;
  Clocks clocks;
  Arrivals arrivals;
  JobReplay job;
  PeerTotals peers;  // medians
  Chain chain;
  CrossPath path;
  std::vector<std::int64_t> stages;  // of each rank; empty: no pipeline
  // Why it says nothing of ranks against one another; empty: it does.
  std::string missing;
};

// A replay that takes so much longer than the record, or so much less, does not show this job:
// ranks were matched wrongly, or most of what they did was not recorded. Source of the first: the
// study itself leaves out jobs whose simulation is off by 5 % (arXiv:2505.05713, section 3); ours
// matches by counting, too.
inline constexpr double kLongestReplay = 1.1;
inline constexpr double kShortestReplay = 0.5;

// Refers to the summary.
RankStudy rank_study(const metrics::Summary& summary);

// The mean step without what these ranks did longer than their peers for that cause.
Seconds without_lateness(const RankStudy& study, const std::vector<std::uint32_t>& ranks,
                         LateCause cause);
// … without what any rank did longer than its peers for any cause.
Seconds without_any_lateness(const RankStudy& study);

}  // namespace sextant::diagnose
