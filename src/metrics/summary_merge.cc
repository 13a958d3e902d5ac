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
                    step.time.exposed_copy_ns, step.idle.host_late_ns, step.path_ns,
                    step.categories_ns);
}

void put_names_in_order(RankSummary& rank) {
  std::vector<std::string> names = rank.names;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto place = [&](std::uint32_t old) {
    return old < rank.names.size()
               ? static_cast<std::uint32_t>(
                     std::lower_bound(names.begin(), names.end(), rank.names[old]) - names.begin())
               : kNone;
  };
  for (CollectiveInstance& one : rank.instances) {
    one.name = place(one.name);
  }
  for (OwnWork& one : rank.work) {
    one.name = place(one.name);
  }
  rank.names = std::move(names);
}

// Groups and names in order, once each; instances and work in order.
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
  put_names_in_order(rank);
  std::sort(rank.work.begin(), rank.work.end());
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
  into.device_work.rows = joined_rows(std::move(into.device_work.rows), from.device_work.rows);
  into.device_work.chains =
      joined_rows(std::move(into.device_work.chains), from.device_work.chains);
  into.collectives = joined_rows(std::move(into.collectives), from.collectives);
  into.ranges = joined_rows(std::move(into.ranges), from.ranges);
  into.signals = joined_rows(std::move(into.signals), from.signals);
  const auto offset = static_cast<std::uint32_t>(into.groups.size());
  const auto named = static_cast<std::uint32_t>(into.names.size());
  into.names.insert(into.names.end(), from.names.begin(), from.names.end());
  into.groups.insert(into.groups.end(), from.groups.begin(), from.groups.end());
  for (CollectiveInstance one : from.instances) {
    one.group = one.group == kNone ? kNone : one.group + offset;
    one.name = one.name == kNone ? kNone : one.name + named;
    into.instances.push_back(one);
  }
  for (OwnWork one : from.work) {
    one.name = one.name == kNone ? kNone : one.name + named;
    into.work.push_back(one);
  }
  into.is_whole_job = into.is_whole_job || from.is_whole_job;
  into.coordinates = std::max(into.coordinates, from.coordinates);
}

}  // namespace

Summary merge(Summary a, const Summary& b) {
  for (const RankSummary& rank : b.ranks) {
    auto at = std::ranges::lower_bound(a.ranks, rank.rank, {}, &RankSummary::rank);
    if (at != a.ranks.end() && at->rank == rank.rank) {
      join(*at, rank);
    } else {
      at = a.ranks.insert(at, rank);  // ranks mostly come in order: at the end
    }
    put_in_order(*at);
  }
  return a;
}

}  // namespace sextant::metrics
