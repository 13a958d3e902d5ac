#include <algorithm>
#include <map>
#include <tuple>

#include "metrics/summary.h"

namespace sextant::metrics {
namespace {

using timeline::Group;

auto group_key(const Group& group) {
  return std::tie(group.name, group.size, group.ranks);
}

template <typename Row>
std::vector<Row> joined_rows(std::vector<Row> rows, const std::vector<Row>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
  return folded(std::move(rows));
}

auto step_key(const StepMeasures& step) {
  return std::tuple(step.number, step.window.start_ns, step.window.end_ns, step.host.start_ns,
                    step.host.end_ns, step.time.compute_ns, step.time.exposed_communication_ns,
                    step.time.exposed_copy_ns, step.idle.host_late_ns, step.path_ns);
}

// Groups in order, once each; instances in order.
void put_in_order(RankSummary& rank) {
  std::vector<Group> groups = rank.groups;
  const auto is_less = [](const Group& a, const Group& b) { return group_key(a) < group_key(b); };
  std::sort(groups.begin(), groups.end(), is_less);
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  for (CollectiveInstance& one : rank.instances) {
    if (one.group < rank.groups.size()) {
      one.group = static_cast<std::uint32_t>(
          std::lower_bound(groups.begin(), groups.end(), rank.groups[one.group], is_less) -
          groups.begin());
    }
  }
  rank.groups = std::move(groups);
  std::sort(rank.instances.begin(), rank.instances.end());
  std::sort(rank.steps.begin(), rank.steps.end(),
            [](const StepMeasures& a, const StepMeasures& b) { return step_key(a) < step_key(b); });
}

// Of two names, for the same whichever comes first.
std::string said(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? std::max(a, b) : std::min(a, b);
}

void join(RankSummary& into, const RankSummary& from) {
  into.world = std::max(into.world, from.world);
  into.host = said(into.host, from.host);
  into.device = said(into.device, from.device);
  into.has_device = into.has_device || from.has_device;
  into.has_shapes = into.has_shapes || from.has_shapes;
  into.has_stacks = into.has_stacks || from.has_stacks;
  into.has_memory = into.has_memory || from.has_memory;
  into.has_sync_events = into.has_sync_events || from.has_sync_events;
  into.basis = std::max(into.basis, from.basis);
  into.found_by = said(into.found_by, from.found_by);
  into.recorded += from.recorded;
  into.base_ns = std::max(into.base_ns, from.base_ns);
  into.steps.insert(into.steps.end(), from.steps.begin(), from.steps.end());
  into.folded += from.folded;
  into.kernels = joined_rows(std::move(into.kernels), from.kernels);
  into.operators = joined_rows(std::move(into.operators), from.operators);
  into.work.rows = joined_rows(std::move(into.work.rows), from.work.rows);
  into.work.chains = joined_rows(std::move(into.work.chains), from.work.chains);
  into.collectives = joined_rows(std::move(into.collectives), from.collectives);
  into.ranges = joined_rows(std::move(into.ranges), from.ranges);
  into.signals = joined_rows(std::move(into.signals), from.signals);
  const auto offset = static_cast<std::uint32_t>(into.groups.size());
  into.groups.insert(into.groups.end(), from.groups.begin(), from.groups.end());
  for (CollectiveInstance one : from.instances) {
    one.group = one.group == kNone ? kNone : one.group + offset;
    into.instances.push_back(one);
  }
}

// What makes two instances of different ranks the same collective. Counted ones are told by their
// step, too.
struct MatchKey {
  std::string group;
  std::vector<RankId> ranks;
  std::optional<std::int64_t> step;
  std::int64_t sequence = 0;
  std::optional<CollectiveOp> op;
  auto operator<=>(const MatchKey&) const = default;
};

MatchKey match_key(const RankSummary& rank, const CollectiveInstance& one) {
  MatchKey key;
  if (one.group < rank.groups.size()) {
    key.group = rank.groups[one.group].name;
    key.ranks = rank.groups[one.group].ranks;
  }
  key.step = one.is_counted ? std::optional(one.step) : std::nullopt;
  key.sequence = one.sequence;
  key.op = one.op;
  return key;
}

}  // namespace

Summary merge(Summary a, const Summary& b) {
  std::map<RankId, RankSummary> ranks;
  for (RankSummary& rank : a.ranks) {
    const RankId id = rank.rank;
    ranks.emplace(id, std::move(rank));
  }
  for (const RankSummary& rank : b.ranks) {
    const auto [at, is_new] = ranks.try_emplace(rank.rank, rank);
    if (!is_new) {
      join(at->second, rank);
    }
    put_in_order(at->second);
  }
  Summary merged;
  for (auto& [id, rank] : ranks) {
    merged.ranks.push_back(std::move(rank));
  }
  return merged;
}

std::int64_t MatchedCollective::transfer_ns() const {
  std::int64_t least = seen.empty() ? 0 : seen.front().end_ns - seen.front().start_ns;
  for (const SeenBy& one : seen) {
    least = std::min(least, one.end_ns - one.start_ns);
  }
  return least;
}

std::vector<MatchedCollective> matched_collectives(const Summary& summary) {
  std::map<MatchKey, MatchedCollective> by_key;
  for (const RankSummary& rank : summary.ranks) {
    for (const CollectiveInstance& one : rank.instances) {
      MatchedCollective& match = by_key[match_key(rank, one)];
      if (match.seen.empty()) {
        match.group = one.group < rank.groups.size() ? rank.groups[one.group] : Group();
        match.step = one.step;
        match.sequence = one.sequence;
        match.op = one.op;
        match.bytes = one.bytes;
      }
      // A number that comes again on a rank is another collective: the first stands.
      if (match.seen.empty() || match.seen.back().rank != rank.rank) {
        match.seen.push_back({rank.rank, one.start_ns, one.end_ns, one.asked_ns});
      }
    }
  }
  std::vector<MatchedCollective> matches;
  for (auto& [key, match] : by_key) {
    if (match.seen.size() > 1) {
      matches.push_back(std::move(match));
    }
  }
  return matches;
}

}  // namespace sextant::metrics
