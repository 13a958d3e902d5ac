#include "app/plan_counts.h"

#include <algorithm>
#include <set>

#include "app/plan_search.h"

namespace sextant::app {
namespace {

Result<explain::PlanCount> counted(const PlanProblem& of, const PlanRequest& request,
                                   const PlanWishes& wishes) {
  explain::PlanCount count;
  count.devices = of.problem.job.cluster.devices;
  const auto plan = fastest_plan(of.problem, request, wishes);
  if (!plan) {
    return count;
  }
  count.row = plan_row(of, plan->layout);
  SEXTANT_TRY(count.training, training_run(request.training, count.row->result));
  count.meets = !wishes.days || (count.training && count.training->time / 1_days <= *wishes.days);
  return count;
}

// Device-seconds of a step: of the same batch, the cheaper.
double spent(const explain::PlanCount& count) {
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
  for (std::int64_t divisor = 1; divisor <= nodes; ++divisor) {
    if (nodes % divisor == 0) {
      for (std::int64_t many = divisor; many <= nodes; many *= 2) {
        counts.insert(many * node);
      }
    }
  }
  return {counts.begin(), counts.end()};
}

Result<Counted> count_devices(const PlanProblem& of, const PlanRequest& request,
                              const PlanWishes& wishes, const Context& context) {
  Counted all;
  std::optional<explain::PlanCount> best;
  for (const std::int64_t devices : device_counts(of.problem.job.cluster)) {
    if (request.stop != nullptr && request.stop->load()) {
      all.complete = false;
      return all;
    }
    PlanProblem at = of;
    if (devices != of.problem.job.cluster.devices) {
      SEXTANT_TRY(at, with_devices(of, devices, context));
    }
    SEXTANT_TRY(explain::PlanCount count, counted(at, request, wishes));
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

}  // namespace sextant::app
