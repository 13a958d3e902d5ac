#include "search/device_counts.h"

#include <algorithm>
#include <set>

namespace sextant::search {
namespace {

PlanCount counted(const Task& task, const CountWishes& wishes, const Effort& effort) {
  PlanCount count;
  count.devices = task.problem.job.cluster.devices;
  const auto plan = fastest_plan(task.problem, effort);
  if (!plan) {
    return count;
  }
  count.row = plan_row(task, plan->layout);
  if (wishes.training) {
    count.training = step::training_run(*wishes.training, count.row->result);
  }
  count.meets = !wishes.days || (count.training && count.training->time / 1_days <= *wishes.days);
  return count;
}

// Device-seconds of a step: of the same batch, the cheaper.
double spent(const PlanCount& count) {
  return count.row ? static_cast<double>(count.devices) * count.row->result.step.step.base() : 0.0;
}

}  // namespace

std::vector<std::int64_t> device_counts(const describe::Cluster& cluster) {
  std::set<std::int64_t> counts{cluster.devices};
  const std::int64_t node = cluster.devices_per_node();
  for (std::int64_t part = 1; part < node; ++part) {
    if (node % part == 0 && part < cluster.devices) {
      counts.insert(part);
    }
  }
  const std::int64_t nodes = cluster.devices / node;
  const std::int64_t apart = (nodes + kEveryNode - 1) / kEveryNode;
  for (std::int64_t many = apart; many <= nodes && apart > 0; many += apart) {
    counts.insert(many * node);
  }
  for (std::int64_t divisor = 1; divisor <= nodes; ++divisor) {
    if (nodes % divisor == 0) {
      for (std::int64_t many = divisor; many <= nodes; many *= 2) {
        counts.insert(many * node);
      }
    }
  }
  return {counts.begin(), counts.end()};
}

Result<Counted> count_devices(const Task& task, const CountWishes& wishes, const Effort& effort,
                              const describe::DataStore& data) {
  Counted all;
  std::optional<PlanCount> best;
  for (const std::int64_t devices : device_counts(task.problem.job.cluster)) {
    if (effort.stopped()) {
      all.complete = false;
      return all;
    }
    Task at = task;
    if (devices != task.problem.job.cluster.devices) {
      SEXTANT_TRY(at, with_devices(task, devices, data));
    }
    const PlanCount count = counted(at, wishes, effort);
    all.counts.push_back(count);
    if (count.meets && (!best || spent(count) < spent(*best))) {
      best = count;
      all.chosen = at;
      if (wishes.objective == Objective::kDevices) {
        return all;
      }
    }
  }
  return all;
}

}  // namespace sextant::search
