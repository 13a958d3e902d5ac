// Laws of traffic on random legal jobs: two methods that must agree, and what can only grow.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "describe/layout/pipeline_split.h"
#include "workload/operators.h"
#include "workload/traffic_pattern.h"
#include "workload/traffic_testing.h"

namespace sextant::workload {
namespace {

using describe::Job;

bool same_traffic(const TrafficTotals& a, const TrafficTotals& b) {
  for (std::size_t i = 0; i < a.groups.size(); ++i) {
    if (!near(a.groups[i].calls, b.groups[i].calls) ||
        !near(a.groups[i].payload / 1_B, b.groups[i].payload / 1_B) ||
        !near(a.groups[i].wire / 1_B, b.groups[i].wire / 1_B)) {
      return false;
    }
  }
  return true;
}

RC_GTEST_PROP(TrafficLaws, TotalsAreThoseOfTheList, ()) {
  const Job job = random_job();
  const Shard shard = shard_of(job);
  const std::vector<Stage> stages = stages_of(job);
  const auto ranks = static_cast<double>(ranks_of_stage(job.layout, shard));
  TrafficTotals sum;
  for (const Stage& stage : stages) {
    const TrafficTotals listed = totals_of(step_collectives(job, stage, shard));
    RC_ASSERT(same_traffic(listed, stage_traffic(job, job.layout, shard, stage)));
    sum.add(listed, ranks);
  }
  RC_ASSERT(same_traffic(sum, traffic_totals(job, job.layout, shard, stages)));
}

RC_GTEST_PROP(TrafficLaws, MessagesAreWellFormed, ()) {
  const Job job = random_job();
  for (const Collective& message : step_collectives(job)) {
    RC_ASSERT(message.group_size > 1);
    RC_ASSERT(message.count > 0);
    RC_ASSERT(message.input_bytes > 0);
    RC_ASSERT(!message.what.empty());
    if (message.op == describe::CollectiveOp::kAllGather) {
      RC_ASSERT(message.output_bytes == message.input_bytes * message.group_size);
    } else if (message.op == describe::CollectiveOp::kReduceScatter) {
      RC_ASSERT(message.input_bytes == message.output_bytes * message.group_size);
    } else {
      RC_ASSERT(message.output_bytes == message.input_bytes);
    }
  }
}

RC_GTEST_PROP(TrafficLaws, LongerSequencesNeverSendLess, ()) {
  Job job = random_job();
  const auto wire = [](const Job& asked) {
    return traffic_totals(asked, asked.layout, shard_of(asked), stages_of(asked)).all().wire;
  };
  const Bytes before = wire(job);
  job.sequences.length *= 2;
  RC_PRE(describe::check_rules(job).empty());
  RC_ASSERT(wire(job) >= before);
}

// Scatter and gather are the halves of an all-reduce: sequence parallelism moves as many bytes in
// the forward pass.
RC_GTEST_PROP(TrafficLaws, SequenceParallelismMovesAsManyBytesForward, ()) {
  Job job = random_job();
  RC_PRE(job.layout.tp > 1);
  job.framework = describe::Framework::kMegatronCore;
  job.model = catalogue("llama-3.1-8b");
  job.layout.split = describe::plausible_split(job.model.layer_count(), job.layout.stages());
  job.layout.ep = 1;
  job.layout.etp = 1;
  RC_PRE(describe::check_rules(job).empty());
  const auto forward = [](const Job& asked) {
    Bytes sum;
    for (const Collective& message : step_collectives(asked)) {
      const bool layer =
          message.what.starts_with("attention") || message.what.starts_with("feed-forward");
      if (message.phase == Phase::kForward && message.group == GroupKind::kTp && layer) {
        sum += message.wire_bytes();
      }
    }
    return sum;
  };
  job.layout.sp = false;
  const Bytes plain = forward(job);
  job.layout.sp = true;
  RC_PRE(describe::check_rules(job).empty());
  RC_ASSERT(near(forward(job) / 1_B, plain / 1_B));
}

// The pattern of a microbatch holds all its work and, of the messages of forward and backward, one
// microbatch's share.
RC_GTEST_PROP(TrafficLaws, ThePatternOfAMicrobatchHoldsItsWorkAndMessages, ()) {
  const Job job = random_job();
  RC_PRE(job.layout.zero == describe::Zero::kNone &&
         job.framework != describe::Framework::kMaxtext);
  const Shard shard = shard_of(job);
  for (const Stage& stage : stages_of(job)) {
    const Pattern pattern = microbatch_pattern(job, stage, shard);
    const WorkTotals work = stage_totals(job, job.layout, stage, shard);
    const double trained =
        (work.input_gradient.flops + work.weight_gradient.flops + work.recompute.flops) / 1_flop;
    const bool backward = job.workload != describe::Workload::kForward;
    RC_ASSERT(
        near(pattern.work() / 1_flop, work.forward.flops / 1_flop + (backward ? trained : 0.0)));
    double bytes = 0.0;
    for (const Collective& message : step_collectives(job, stage, shard)) {
      const bool passes = message.phase == Phase::kForward || message.phase == Phase::kBackward ||
                          message.phase == Phase::kRecompute;
      const bool replicas =
          message.group == GroupKind::kDp || message.group == GroupKind::kExpertDp;
      bytes += passes && !replicas ? message.wire_bytes() / 1_B : 0.0;
    }
    const bool half = job.layout.schedule == describe::Schedule::kDualPipe && job.layout.pp > 1;
    const std::int64_t runs = half ? divided_up(shard.microbatches, 2) : shard.microbatches;
    RC_ASSERT(near(pattern.bytes() / 1_B, bytes / static_cast<double>(runs)));
  }
}

}  // namespace
}  // namespace sextant::workload
