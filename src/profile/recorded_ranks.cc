#include "profile/recorded_ranks.h"

#include <map>
#include <vector>

namespace sextant::profile {
namespace {

using NewRanks = std::map<RankId, RankId>;

template <typename T>
void move_all(std::vector<T>& values, const NewRanks& ranks) {
  for (T& value : values) {
    value.rank = ranks.at(value.rank);
  }
}

// Of all that the recording names, in order: what nobody lists as a rank is moved with the others.
NewRanks new_ranks(const timeline::Recording& recording, RankId first) {
  NewRanks ranks;
  const auto take = [&](const auto& values) {
    for (const auto& value : values) {
      ranks[value.rank];
    }
  };
  take(recording.ranks);
  take(recording.timeline.lanes());
  take(recording.steps);
  take(recording.memory);
  take(recording.waits);
  for (auto& [old, rank] : ranks) {
    rank = first;
    first.value += 1;
  }
  return ranks;
}

}  // namespace

void renumber_ranks(timeline::Recording& recording, RankId first) {
  const NewRanks ranks = new_ranks(recording, first);
  std::vector<RankId> of_lanes;
  for (const timeline::Lane& lane : recording.timeline.lanes()) {
    of_lanes.push_back(ranks.at(lane.rank));
  }
  recording.timeline.set_ranks(of_lanes);
  move_all(recording.ranks, ranks);
  move_all(recording.steps, ranks);
  move_all(recording.memory, ranks);
  move_all(recording.waits, ranks);
  for (timeline::RecordedRank& rank : recording.ranks) {
    rank.is_stated = true;
  }
}

}  // namespace sextant::profile
