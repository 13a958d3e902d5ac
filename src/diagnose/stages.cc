#include "diagnose/stages.h"

#include <algorithm>
#include <queue>
#include <set>

namespace sextant::diagnose {
namespace {

// Who sends to whom, as far as messages say: a pipeline's ranks, from its first to its last.
std::vector<std::set<std::uint32_t>> receivers_of(const metrics::Summary& summary,
                                                  const Meetings& meetings) {
  std::vector<std::set<std::uint32_t>> peers(summary.ranks.size());
  for (const Meeting& meeting : meetings.all) {
    if (meeting.is_message) {
      peers[meeting.seen[0].rank_place].insert(meeting.seen[1].rank_place);
      peers[meeting.seen[1].rank_place].insert(meeting.seen[0].rank_place);
    }
  }
  return peers;
}

// Of all ranks that messages reach from `first`, whose stage is 0.
void number_from(std::uint32_t first, const std::vector<std::set<std::uint32_t>>& peers,
                 std::vector<std::int64_t>& stages) {
  std::queue<std::uint32_t> next({first});
  stages[first] = 0;
  for (; !next.empty(); next.pop()) {
    for (const std::uint32_t peer : peers[next.front()]) {
      if (stages[peer] < 0) {
        stages[peer] = stages[next.front()] + 1;
        next.push(peer);
      }
    }
  }
}

}  // namespace

std::optional<std::int64_t> coordinate(const metrics::RankSummary& rank, const char* axis) {
  for (const auto& [name, at] : rank.coordinates) {
    if (name == axis) {
      return at;
    }
  }
  return std::nullopt;
}

std::vector<std::int64_t> stages_of(const metrics::Summary& summary, const Meetings& meetings) {
  std::vector<std::int64_t> stages;
  if (summary.ranks.empty()) {
    return stages;
  }
  for (const metrics::RankSummary& rank : summary.ranks) {
    const auto at = coordinate(rank, "pp");
    if (!at) {
      break;
    }
    stages.push_back(*at);
  }
  if (!stages.empty() && stages.size() == summary.ranks.size()) {
    return std::ranges::max(stages) > 0 ? stages : std::vector<std::int64_t>();
  }
  const std::vector<std::set<std::uint32_t>> peers = receivers_of(summary, meetings);
  stages.assign(summary.ranks.size(), -1);
  // A chain begins at a rank with one peer; a ring, where the last also sends to the first, at its
  // lowest rank.
  for (const std::size_t ends : {std::size_t{1}, std::size_t{2}}) {
    for (std::uint32_t rank = 0; rank < peers.size(); ++rank) {
      if (peers[rank].empty()) {
        return {};
      }
      if (stages[rank] >= 0 || peers[rank].size() != ends) {
        continue;
      }
      number_from(rank, peers, stages);
    }
  }
  return std::ranges::min(stages) < 0 ? std::vector<std::int64_t>() : stages;
}

}  // namespace sextant::diagnose
