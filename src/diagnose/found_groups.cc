#include "diagnose/found_groups.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace sextant::diagnose {
namespace {

using metrics::CollectiveInstance;
using metrics::RankSummary;
using metrics::SeenBy;
using metrics::Summary;

constexpr std::size_t kMostAxes = 6;
// A clock that stepped, a span cut short: one in a hundred may not overlap.
constexpr double kNearlyAll = 0.99;

// Coordinates of each rank on the axes of the job, in one order of axes.
struct Places {
  std::vector<std::string> axes;
  std::vector<std::vector<std::int64_t>> of_rank;
};

Places places_of(const Summary& summary) {
  Places places;
  std::set<std::string> axes;
  for (const RankSummary& rank : summary.ranks) {
    for (const auto& [axis, at] : rank.coordinates) {
      if (axes.size() < kMostAxes) {
        axes.insert(axis);
      }
    }
  }
  places.axes.assign(axes.begin(), axes.end());
  for (const RankSummary& rank : summary.ranks) {
    std::vector<std::int64_t> at(places.axes.size(), 0);
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      for (const auto& [name, place] : rank.coordinates) {
        at[axis] = name == places.axes[axis] ? place : at[axis];
      }
    }
    places.of_rank.push_back(std::move(at));
  }
  return places;
}

SeenBy seen_by(const Summary& summary, std::uint32_t rank, std::uint32_t instance) {
  const CollectiveInstance& one = summary.ranks[rank].instances[instance];
  return {summary.ranks[rank].rank, rank, instance, one.start_ns, one.end_ns, one.asked_ns};
}

// All communications of one name.
struct Named {
  std::string name;
  std::vector<SeenBy> seen;  // by rank, then as in the rank
};

std::vector<Named> by_name(const Summary& summary) {
  std::map<std::string, std::vector<SeenBy>> all;
  for (std::uint32_t rank = 0; rank < summary.ranks.size(); ++rank) {
    const RankSummary& of = summary.ranks[rank];
    for (std::uint32_t i = 0; i < of.instances.size(); ++i) {
      const std::uint32_t name = of.instances[i].name;
      if (name < of.names.size()) {
        all[of.names[name]].push_back(seen_by(summary, rank, i));
      }
    }
  }
  std::vector<Named> named;
  for (auto& [name, seen] : all) {
    named.push_back({name, std::move(seen)});
  }
  return named;
}

const CollectiveInstance& instance_of(const Summary& summary, const SeenBy& seen) {
  return summary.ranks[seen.rank_place].instances[seen.instance_place];
}

std::int64_t transfer_of(const std::vector<SeenBy>& seen) {
  std::int64_t all_there = std::numeric_limits<std::int64_t>::min();
  std::int64_t first_done = std::numeric_limits<std::int64_t>::max();
  for (const SeenBy& one : seen) {
    all_there = std::max(all_there, one.start_ns);
    first_done = std::min(first_done, one.end_ns);
  }
  return std::max<std::int64_t>(0, first_done - all_there);
}

bool overlap(const std::vector<SeenBy>& seen) {
  std::int64_t all_there = std::numeric_limits<std::int64_t>::min();
  std::int64_t first_done = std::numeric_limits<std::int64_t>::max();
  for (const SeenBy& one : seen) {
    all_there = std::max(all_there, one.start_ns);
    first_done = std::min(first_done, one.end_ns);
  }
  return all_there <= first_done + kSameMomentNs;
}

Meeting found_meeting(const Summary& summary, std::vector<SeenBy> seen, bool is_message) {
  const CollectiveInstance& one = instance_of(summary, seen.front());
  Meeting meeting;
  meeting.step = one.step;
  meeting.op = one.op;
  meeting.bytes = one.bytes;
  meeting.is_message = is_message;
  meeting.transfer_ns = transfer_of(seen);
  meeting.seen = std::move(seen);
  return meeting;
}

// The meetings of a name if ranks that agree on the held axes are a group; nothing if in these not
// all are there at one moment, or nobody meets.
std::vector<std::vector<SeenBy>> grouped(const Summary& summary, const Places& places,
                                         const Named& named, unsigned held) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::vector<std::int64_t>>, std::vector<SeenBy>>
      groups;
  for (const SeenBy& seen : named.seen) {
    std::vector<std::int64_t> at = places.of_rank[seen.rank_place];
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      at[axis] = (held >> axis & 1U) != 0 ? at[axis] : 0;
    }
    const CollectiveInstance& one = instance_of(summary, seen);
    groups[{one.step, one.sequence, std::move(at)}].push_back(seen);
  }
  std::vector<std::vector<SeenBy>> met;
  std::size_t together = 0;
  for (auto& [key, seen] : groups) {
    if (seen.size() > 1) {
      together += overlap(seen) ? std::size_t{1} : std::size_t{0};
      met.push_back(std::move(seen));
    }
  }
  const bool holds = static_cast<double>(together) >= kNearlyAll * static_cast<double>(met.size());
  return holds ? std::move(met) : std::vector<std::vector<SeenBy>>();
}

// Fewest held axes first: the largest groups in which it holds.
void add_collectives(const Summary& summary, const Places& places, const Named& named,
                     std::vector<Meeting>& meetings) {
  std::vector<unsigned> ways;
  for (unsigned held = 0; held < 1U << places.axes.size(); ++held) {
    ways.push_back(held);
  }
  std::ranges::stable_sort(ways, {}, [](unsigned held) { return __builtin_popcount(held); });
  for (const unsigned held : ways) {
    std::vector<std::vector<SeenBy>> met = grouped(summary, places, named, held);
    if (!met.empty()) {
      for (std::vector<SeenBy>& seen : met) {
        meetings.push_back(found_meeting(summary, std::move(seen), false));
      }
      return;
    }
  }
}

using ByRank = std::map<std::vector<std::int64_t>, std::vector<SeenBy>>;

ByRank by_place(const Places& places, const Named& named) {
  ByRank all;
  for (const SeenBy& seen : named.seen) {
    all[places.of_rank[seen.rank_place]].push_back(seen);
  }
  for (auto& [place, seen] : all) {
    std::ranges::stable_sort(seen, {}, &SeenBy::start_ns);
  }
  return all;
}

struct Shift {
  std::size_t axis = 0;
  std::int64_t by = 0;
};

// Sends and receives in order, each with the first that it overlaps.
std::vector<std::vector<SeenBy>> paired(const ByRank& sends, const ByRank& receives,
                                        const Shift& shift, std::int64_t size) {
  std::vector<std::vector<SeenBy>> pairs;
  for (const auto& [place, sent] : sends) {
    std::vector<std::int64_t> to = place;
    to[shift.axis] = (to[shift.axis] + shift.by + size) % size;
    const auto received = receives.find(to);
    if (received == receives.end() || to == place) {
      continue;
    }
    auto at = received->second.begin();
    for (const SeenBy& send : sent) {
      while (at != received->second.end() && at->end_ns + kSameMomentNs < send.start_ns) {
        ++at;
      }
      if (at != received->second.end() && overlap({send, *at})) {
        pairs.push_back({send, *at++});
      }
    }
  }
  return pairs;
}

// Along the axis and in the direction in which most of them pair.
void add_messages(const Summary& summary, const Places& places, const Named& sends,
                  const Named& receives, std::vector<Meeting>& meetings) {
  const ByRank sent = by_place(places, sends);
  const ByRank received = by_place(places, receives);
  std::vector<std::vector<SeenBy>> best;
  for (std::size_t axis = 0; axis < places.axes.size(); ++axis) {
    std::int64_t size = 0;
    for (const std::vector<std::int64_t>& at : places.of_rank) {
      size = std::max(size, at[axis] + 1);
    }
    for (const std::int64_t by : std::array<std::int64_t, 2>{1, -1}) {
      std::vector<std::vector<SeenBy>> pairs = paired(sent, received, {axis, by}, size);
      if (pairs.size() > best.size()) {
        best = std::move(pairs);
      }
    }
  }
  for (std::vector<SeenBy>& pair : best) {
    meetings.push_back(found_meeting(summary, std::move(pair), true));
  }
}

}  // namespace

std::vector<Meeting> found_meetings(const Summary& summary) {
  const Places places = places_of(summary);
  const std::vector<Named> all = by_name(summary);
  std::vector<Meeting> meetings;
  for (const Named& named : all) {
    const std::size_t send = named.name.rfind("-send");
    if (send != std::string::npos) {
      const std::string peer = named.name.substr(0, send) + "-recv" + named.name.substr(send + 5);
      const auto receives = std::ranges::find(all, peer, &Named::name);
      if (receives != all.end()) {
        add_messages(summary, places, named, *receives, meetings);
      }
    } else if (named.name.find("-recv") == std::string::npos) {
      add_collectives(summary, places, named, meetings);
    }
  }
  return meetings;
}

}  // namespace sextant::diagnose
