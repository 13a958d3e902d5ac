// straggling-link, slow-collective: transfers themselves take longer than they must, by what other
// groups, or the same group at other times, take for the same operation on the same bytes.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "diagnose/medians.h"
#include "diagnose/rank_rules.h"

namespace sextant::diagnose {
namespace {

// A link that is not whole commonly runs at half its width or speed; half way to that, in ratio:
// the square root of two.
constexpr double kSlowerLink = 1.414;
// One group in four at most, or one: what more have is how the network is.
constexpr std::size_t kGroupsPerSlow = 4;
// A collective that reaches less than half of the bandwidth that the group reaches itself.
constexpr double kSlowCollective = 2.0;
// So many alike make a median, and so many slow ones no accident.
constexpr std::size_t kFewestTransfers = 8;
constexpr std::size_t kFewestSlow = 3;

using RankList = std::vector<std::uint32_t>;

// Transfers of one type, by who met.
struct GroupTransfers {
  std::vector<std::uint32_t> meetings;  // of the graph
  std::int64_t median_ns = 0;
};
using ByGroup = std::map<RankList, GroupTransfers>;

std::int64_t transfer_in(const ReplayGraph& graph, std::uint32_t meeting) {
  return graph.nodes[graph.members[graph.member_start[meeting]]].actual_ns;
}

std::map<std::uint32_t, ByGroup> transfers_of(const ReplayGraph& graph) {
  std::map<std::uint32_t, ByGroup> by_type;
  for (std::uint32_t meeting = 0; meeting < graph.meetings.size(); ++meeting) {
    RankList ranks;
    for (std::uint32_t k = graph.member_start[meeting]; k < graph.member_start[meeting + 1]; ++k) {
      ranks.push_back(graph.nodes[graph.members[k]].rank);
    }
    const std::uint32_t type = graph.nodes[graph.members[graph.member_start[meeting]]].type;
    by_type[type][std::move(ranks)].meetings.push_back(meeting);
  }
  for (auto& [type, groups] : by_type) {
    for (auto& [ranks, group] : groups) {
      std::vector<std::int64_t> all;
      for (const std::uint32_t meeting : group.meetings) {
        all.push_back(transfer_in(graph, meeting));
      }
      group.median_ns = lower_median(all);
    }
  }
  return by_type;
}

void shorten(const ReplayGraph& graph, std::uint32_t meeting, std::int64_t to_ns,
             std::vector<std::int64_t>& lengths) {
  for (std::uint32_t k = graph.member_start[meeting]; k < graph.member_start[meeting + 1]; ++k) {
    std::int64_t& length = lengths[graph.members[k]];
    length = std::min(length, to_ns);
  }
}

// How many of the groups that a rank is in, and that have peers, are slow.
struct Standing {
  std::size_t slow = 0;
  std::size_t compared = 0;
};

struct SlowLinks {
  std::map<std::uint32_t, Standing> ranks;
  std::set<RankList> groups;
  std::vector<std::int64_t> lengths;  // as if they were as their peers
  std::uint32_t worst = metrics::kNone;
  double worst_ratio = 0.0;
};

void compare(const RankStudy& study, const ByGroup& groups, SlowLinks& links) {
  std::vector<std::int64_t> medians;
  for (const auto& [ranks, group] : groups) {
    medians.push_back(group.median_ns);
  }
  const std::int64_t normal = lower_median(medians);
  const auto is_slow = [&](const GroupTransfers& group) {
    return static_cast<double>(group.median_ns) > kSlowerLink * static_cast<double>(normal) &&
           group.meetings.size() >= kFewestSlow && normal > 0;
  };
  const auto slow = static_cast<std::size_t>(
      std::ranges::count_if(groups, [&](const auto& group) { return is_slow(group.second); }));
  const bool is_odd = slow <= std::max<std::size_t>(1, groups.size() / kGroupsPerSlow);
  for (const auto& [ranks, group] : groups) {
    const bool counts = is_odd && is_slow(group);
    for (const std::uint32_t rank : ranks) {
      links.ranks[rank].compared += 1;
      links.ranks[rank].slow += counts ? 1 : 0;
    }
    if (!counts) {
      continue;
    }
    links.groups.insert(ranks);
    for (const std::uint32_t meeting : group.meetings) {
      shorten(study.job.graph, meeting, normal, links.lengths);
    }
    const double ratio = static_cast<double>(group.median_ns) / static_cast<double>(normal);
    if (ratio > links.worst_ratio) {
      links.worst_ratio = ratio;
      links.worst = group.meetings.front();
    }
  }
}

// Ranks all of whose links are slow, if they are in every slow group; else all of these groups'.
RankList culprits(const SlowLinks& links) {
  RankList all;
  RankList always;
  for (const auto& [rank, standing] : links.ranks) {
    if (standing.slow > 0) {
      all.push_back(rank);
      if (standing.slow == standing.compared && standing.compared > 1) {
        always.push_back(rank);
      }
    }
  }
  const bool covers = std::ranges::all_of(links.groups, [&](const RankList& group) {
    return std::ranges::any_of(
        group, [&](std::uint32_t rank) { return std::ranges::find(always, rank) != always.end(); });
  });
  return !always.empty() && always.size() < all.size() && covers ? always : all;
}

Evidence transfer_evidence(const ReplayGraph& graph, std::uint32_t meeting, std::string what) {
  const ReplayNode& node = graph.nodes[graph.members[graph.member_start[meeting]]];
  return {graph.summary->ranks[node.rank].rank, {node.start_ns, node.end_ns}, std::move(what)};
}

// Two ranks have a link between them; of more, what is slow is their collective.
enum class Meets : std::uint8_t { kPair, kGroup };

SlowLinks slow_links(const RankStudy& study, const std::map<std::uint32_t, ByGroup>& transfers,
                     Meets meets) {
  SlowLinks links;
  links.lengths = study.job.actual_ns;
  for (const auto& [type, groups] : transfers) {
    const bool is_pair = groups.begin()->first.size() == 2;
    if (groups.size() > 1 && is_pair == (meets == Meets::kPair)) {
      compare(study, groups, links);
    }
  }
  return links;
}

// What a replay keeps in a recorded order, a run may do otherwise: at most all that a rank's
// transfers take beyond the shorter ones, as far as communication stands alone on it without
// waiting.
Seconds longest_excess(const Scene& scene, const RankStudy& study,
                       const std::vector<std::int64_t>& shorter) {
  const ReplayGraph& graph = study.job.graph;
  std::vector<std::int64_t> excess(scene.summary->ranks.size(), 0);
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    excess[graph.nodes[i].rank] += graph.nodes[i].actual_ns - shorter[i];
  }
  std::int64_t longest = 0;
  for (std::size_t rank = 0; rank < excess.size(); ++rank) {
    const metrics::RankTotals all = scene.summary->ranks[rank].total();
    const std::int64_t alone =
        (all.time.exposed_communication_ns - study.arrivals.ranks[rank].waiting_ns) /
        std::max<std::int64_t>(1, all.steps);
    const auto steps = static_cast<std::int64_t>(graph.steps.size());
    longest = std::max(longest, std::min(alone, excess[rank] / steps));
  }
  return static_cast<double>(longest) * 1_ns;
}

void add_slow_links(const Scene& scene, const RankStudy& study, const SlowLinks& links, Meets meets,
                    Findings& findings) {
  const Seconds saved = study.job.actual - replayed(study.job.graph, links.lengths).mean_step();
  if (links.groups.empty() || of_recorded_step(scene, study, saved) < kWorthSaying * scene.step) {
    return;
  }
  const Seconds lost =
      std::max(of_recorded_step(scene, study, saved), longest_excess(scene, study, links.lengths));
  const RankList ranks = culprits(links);
  Finding finding;
  finding.rule = meets == Meets::kPair ? "straggling-link" : "slow-collective";
  finding.cause =
      fmt::format("{} {} take up to {:.1f} times as long as the same transfers of other groups",
                  meets == Meets::kPair ? "Transfers over the links of" : "Collectives of",
                  rank_words(*scene.summary, ranks), links.worst_ratio);
  finding.ranks = rank_ids(*scene.summary, ranks);
  finding.per_step = lost;
  finding.parts[static_cast<std::size_t>(StepPart::kExposedCommunication)] = lost;
  finding.status = Status::kVerified;
  finding.evidence.push_back(transfer_evidence(
      study.job.graph, links.worst,
      fmt::format("{:.1f} times the transfer of other groups", links.worst_ratio)));
  findings.found.push_back(std::move(finding));
}

struct SlowTransfers {
  std::vector<std::uint32_t> meetings;
  std::set<std::uint32_t> steps;  // places
  std::set<std::uint32_t> ranks;
  std::vector<std::int64_t> lengths;
  std::uint32_t worst = metrics::kNone;
  double worst_ratio = 0.0;
};

void find_slow(const RankStudy& study, const RankList& ranks, const GroupTransfers& group,
               SlowTransfers& slow) {
  const ReplayGraph& graph = study.job.graph;
  const ReplayNode& first = graph.nodes[graph.members[graph.member_start[group.meetings[0]]]];
  const bool is_sized = graph.summary->ranks[first.rank].instances[first.place].bytes.has_value();
  std::vector<std::uint32_t> found;
  for (const std::uint32_t meeting : group.meetings) {
    if (static_cast<double>(transfer_in(graph, meeting)) >
        kSlowCollective * static_cast<double>(group.median_ns)) {
      found.push_back(meeting);
    }
  }
  if (!is_sized || group.meetings.size() < kFewestTransfers || found.size() < kFewestSlow) {
    return;
  }
  slow.ranks.insert(ranks.begin(), ranks.end());
  for (const std::uint32_t meeting : found) {
    const std::uint32_t node = graph.members[graph.member_start[meeting]];
    const auto step = std::ranges::upper_bound(graph.steps, node, {}, &ReplayStep::first);
    slow.steps.insert(static_cast<std::uint32_t>(step - graph.steps.begin()));
    slow.meetings.push_back(meeting);
    shorten(graph, meeting, group.median_ns, slow.lengths);
    const double ratio =
        static_cast<double>(transfer_in(graph, meeting)) / static_cast<double>(group.median_ns);
    if (ratio > slow.worst_ratio) {
      slow.worst_ratio = ratio;
      slow.worst = meeting;
    }
  }
}

void add_slow_collectives(const Scene& scene, const RankStudy& study,
                          const std::map<std::uint32_t, ByGroup>& transfers, Findings& findings) {
  SlowTransfers slow;
  slow.lengths = study.job.actual_ns;
  for (const auto& [type, groups] : transfers) {
    for (const auto& [ranks, group] : groups) {
      find_slow(study, ranks, group, slow);
    }
  }
  const Seconds saved = study.job.actual - replayed(study.job.graph, slow.lengths).mean_step();
  const Seconds lost = of_recorded_step(scene, study, saved);
  if (slow.meetings.empty() || lost < kWorthSaying * scene.step ||
      2 * slow.steps.size() <= study.job.graph.steps.size()) {
    return;
  }
  const RankList ranks(slow.ranks.begin(), slow.ranks.end());
  Finding finding;
  finding.rule = "slow-collective";
  finding.cause = fmt::format(
      "{} collectives of {} reach less than half of the bandwidth that the same groups reach with "
      "the same bytes at other times; the slowest takes {:.1f} times as long",
      slow.meetings.size(), rank_words(*scene.summary, ranks), slow.worst_ratio);
  finding.ranks = rank_ids(*scene.summary, ranks);
  finding.per_step = lost;
  finding.parts[static_cast<std::size_t>(StepPart::kExposedCommunication)] = lost;
  finding.status = Status::kVerified;
  finding.evidence.push_back(transfer_evidence(
      study.job.graph, slow.worst,
      fmt::format("{:.1f} times what it takes at other times", slow.worst_ratio)));
  findings.found.push_back(std::move(finding));
}

}  // namespace

void add_links(const Scene& scene, const RankStudy& study, Findings& findings) {
  const std::map<std::uint32_t, ByGroup> transfers = transfers_of(study.job.graph);
  for (const Meets meets : {Meets::kPair, Meets::kGroup}) {
    add_slow_links(scene, study, slow_links(study, transfers, meets), meets, findings);
  }
  const bool has_slow_group = std::ranges::any_of(
      findings.found, [](const Finding& one) { return one.rule == "slow-collective"; });
  if (!has_slow_group) {
    add_slow_collectives(scene, study, transfers, findings);
  }
}

}  // namespace sextant::diagnose
