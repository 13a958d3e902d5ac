// What is noted of a step is the step: every term is the sum of what it was priced from.
#include "step/step_record.h"

#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "step/estimate.h"
#include "step/testing.h"

namespace sextant::step {
namespace {

// To a part in 10⁹ of `whole`.
bool same(Seconds one, Seconds other, Seconds whole) {
  return std::abs((one - other).base()) <= 1e-9 * std::abs(whole.base());
}

Seconds operators_of(const std::vector<cost::OperatorTime>& operators) {
  Seconds sum;
  for (const cost::OperatorTime& one : operators) {
    sum += one.total();
  }
  return sum;
}

// A job of any framework with its step.
struct Recorded {
  describe::Job job = workload::random_job();
  StepModel machine = any_machine();
  RecordedStep step = recorded_step(job, machine);
  double microbatches = static_cast<double>(workload::shard_of(job).microbatches);
};

RC_GTEST_PROP(StepRecord, ComputeIsTheSumOfItsOperatorsAndWaits, ()) {
  const Recorded all;
  const StepEstimate& estimate = all.step.estimate;
  Seconds compute;
  Seconds waited;
  for (const StageRecord& stage : all.step.record.stages) {
    const StageCost& cost = estimate.stages[stage.stage];
    for (const auto& [record, pass] :
         {std::pair(&stage.forward, &cost.forward), std::pair(&stage.backward, &cost.backward)}) {
      const Seconds sum =
          operators_of(record->operators) + record->first_gather + record->expert_wait;
      RC_ASSERT(same(sum, pass->compute, pass->compute));
      compute += (sum + pass->slowed) * all.microbatches;
      waited += pass->wait() * all.microbatches;
    }
  }
  RC_ASSERT(same(compute, estimate.compute, estimate.compute));
  RC_ASSERT(same(waited, estimate.host, estimate.host));
}

RC_GTEST_PROP(StepRecord, ExposedTimeIsTheSumOfItsMessages, ()) {
  const Recorded all;
  const StepRecord& record = all.step.record;
  AxisTimes exposed;
  for (const StageRecord& stage : record.stages) {
    const StageCost& cost = all.step.estimate.stages[stage.stage];
    for (const auto& [noted, pass] :
         {std::pair(&stage.forward, &cost.forward), std::pair(&stage.backward, &cost.backward)}) {
      AxisTimes own;
      own[step::Axis::kData] += noted->first;
      for (const NotedMessage& one : noted->messages) {
        RC_ASSERT(one.exposed >= Seconds() && one.exposed <= one.all() * (1.0 + 1e-9));
        own[axis_of(one.message.group)] += one.exposed;
      }
      for (std::size_t axis = 0; axis < kAxes; ++axis) {
        RC_ASSERT(same(own.times[axis], pass->exposed.times[axis], pass->exposed.times[axis]));
      }
      exposed += own * all.microbatches;
    }
  }
  for (const OnceRecord& stage : record.once) {
    for (const NotedMessage& one : stage.messages) {
      exposed[axis_of(one.message.group)] += one.exposed;
    }
  }
  exposed[step::Axis::kPipeline] += record.between;
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    const Seconds term = all.step.estimate.exposed.times[axis];
    RC_ASSERT(same(exposed.times[axis], term, term));
  }
}

RC_GTEST_PROP(StepRecord, TheUpdateAndTheLoopAreTheSumOfTheirParts, ()) {
  const Recorded all;
  const StepEstimate& estimate = all.step.estimate;
  Seconds update = all.step.record.update_wait;
  for (const OnceRecord& stage : all.step.record.once) {
    update += operators_of(stage.update);
  }
  RC_ASSERT(same(update, estimate.update, estimate.update));
  RC_ASSERT(all.step.record.update_wait >= Seconds());
  RC_ASSERT(same(all.step.record.loop + all.step.record.uneven, estimate.beside, estimate.beside));
}

// Asking why changes no number.
RC_GTEST_PROP(StepRecord, ARecordChangesNothing, ()) {
  const Recorded all;
  const StepEstimate plain = estimate_step(all.job, all.machine);
  RC_ASSERT(plain.step == all.step.estimate.step);
  RC_ASSERT(plain.exposed.times == all.step.estimate.exposed.times);
}

}  // namespace
}  // namespace sextant::step
