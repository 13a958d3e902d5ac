// Stages priced from layers against stages priced from the lists of their operators and messages.
#include "step/stage_cost.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "step/estimate.h"
#include "step/testing.h"
#include "workload/operators.h"
#include "workload/traffic.h"

namespace sextant::step {
namespace {

using workload::Collective;
using workload::GroupKind;
using workload::Phase;

bool close_or_both_tiny(Seconds one, Seconds other) {
  return std::abs((one - other).base()) <= 1e-9 * std::max(std::abs(one.base()), 1e-9);
}

RC_GTEST_PROP(StageCost, ComputeIsThatOfTheListOfOperators, ()) {
  const describe::Job job = workload::random_job();
  const StepModel model = any_machine();
  const workload::Shard shard = workload::shard_of(job);
  const std::vector<workload::Stage> stages = workload::stages_of(job);
  const StepEstimate estimate = estimate_step(job, model);
  RC_ASSERT(estimate.stages.size() == stages.size());
  const cost::RankSetting setting{.device = model.device, .host = model.host, .clips = true};
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageCost& cost = estimate.stages[i];
    const auto operators =
        cost::microbatch_times(workload::stage_operators(job, stages[i], shard), model.device);
    const cost::RankTime time =
        cost::rank_time(job, job.layout, stages[i], shard, setting, operators);
    RC_ASSERT(close_or_both_tiny(cost.forward.compute, time.forward.device));
    RC_ASSERT(close_or_both_tiny(cost.forward.tail, time.forward.tail));
    RC_ASSERT(close_or_both_tiny(cost.forward.host, time.forward.host * model.facts.host.value));
    RC_ASSERT(close_or_both_tiny(cost.backward.compute, time.backward.device));
    RC_ASSERT(close_or_both_tiny(cost.backward.host, time.backward.host * model.facts.host.value));
    RC_ASSERT(close_or_both_tiny(cost.update.device, time.update.device));
    Seconds weights;
    Seconds backward;
    for (const cost::OperatorTime& one : operators) {
      weights += one.op.pass == workload::Pass::kWeightGradient ? one.total() : Seconds();
      backward += one.op.pass != workload::Pass::kForward ? one.total() : Seconds();
    }
    RC_ASSERT(close_or_both_tiny(backward * cost.weight_share, weights));
  }
}

// The messages of a stage, priced one by one.
struct Listed {
  Seconds forward;
  Seconds backward;
  Seconds once;
  Seconds unit;  // the longest message that hides behind layers
};

Listed listed(const describe::Job& job, const workload::Stage& stage, const StepModel& model) {
  const workload::Shard shard = workload::shard_of(job);
  const workload::RankGrid grid(job.layout, shard);
  MessagePricer pricer{model, grid, grid.on_pipeline_rank(0, stage.pipeline_rank),
                       expert_routing(job, shard)};
  if (const auto merged = merged_bytes(job)) {
    pricer.merged = *merged / static_cast<double>(shard.tp);
  }
  Listed sums;
  for (const Collective& message : workload::step_collectives(job, stage, shard)) {
    const Seconds each = pricer.once(message);
    const Seconds all = each * static_cast<double>(message.count);
    const Seconds share = all / static_cast<double>(shard.microbatches);
    if (message.group == GroupKind::kPipeline) {
      continue;
    }
    if (message.phase == Phase::kForward) {
      sums.forward += share;
    } else if (message.phase == Phase::kRecompute || message.phase == Phase::kBackward) {
      sums.backward += share;
    } else {
      sums.once += all;
    }
    if (message.hides == workload::Hides::kNextLayers) {
      sums.unit = std::max(sums.unit, each);
    }
  }
  return sums;
}

// Exposed and hidden together are all messages, and at most the first unit of a pass twice.
bool covers(const PassCost& pass, Seconds all, Seconds unit) {
  const Seconds both = pass.exposed.total() + pass.hidden.total();
  const Seconds slack = all * 1e-9 + 1e-15_s;
  return both >= all - slack && both <= all + unit + slack;
}

RC_GTEST_PROP(StageCost, MessagesAreExposedOrHidden, ()) {
  const describe::Job job = workload::random_job();
  const StepModel model = any_machine();
  const std::vector<workload::Stage> stages = workload::stages_of(job);
  const StepEstimate estimate = estimate_step(job, model);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageCost& cost = estimate.stages[i];
    const Listed list = listed(job, stages[i], model);
    RC_ASSERT(covers(cost.forward, list.forward, list.unit));
    RC_ASSERT(covers(cost.backward, list.backward, list.unit));
    const Seconds once = cost.reduced.total() + cost.reduced_bare.total() + cost.gathered.total() +
                         cost.gathered_bare.total() + cost.around_update.total();
    RC_ASSERT(close_or_both_tiny(once, list.once));
  }
}

}  // namespace
}  // namespace sextant::step
