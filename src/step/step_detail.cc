#include "step/step_detail.h"

#include <utility>

#include "step/message_time.h"
#include "workload/operators.h"
#include "workload/traffic.h"

namespace sextant::step {

StepDetail step_detail(const describe::Job& job, const Estimate& result, const StepModel& model) {
  const workload::Shard shard = workload::shard_of(job);
  const workload::RankGrid grid(job.layout, shard);
  const MessagePricer pricer =
      message_pricer(job, shard, grid, grid.on_pipeline_rank(0, result.step.slowest_rank), model);
  StepDetail detail;
  detail.facts = model.facts;
  MessagePricer once = pricer;
  once.rank = grid.on_pipeline_rank(0, result.step.once_rank);
  const auto add_messages = [&](const workload::Stage& stage, const MessagePricer& priced_by,
                                StageParts& parts) {
    for (const workload::Collective& message : workload::step_collectives(job, stage, shard)) {
      parts.messages.push_back({message, priced_by.once(message)});
    }
  };
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    const workload::Stage& stage = result.stages[i];
    if (stage.pipeline_rank == result.step.slowest_rank) {
      StageParts parts;
      parts.stage = i;
      parts.operators =
          cost::microbatch_times(workload::stage_operators(job, stage, shard), model.device);
      add_messages(stage, pricer, parts);
      detail.stages.push_back(std::move(parts));
    }
    if (stage.pipeline_rank == result.step.once_rank) {
      StageParts parts;
      parts.stage = i;
      for (const workload::Operator& op : workload::update_operators(job, {&stage, 1}, shard)) {
        parts.update.push_back({.op = op,
                                .times = static_cast<double>(op.count),
                                .cost = cost::operator_time(op, model.device)});
      }
      add_messages(stage, once, parts);
      detail.once.push_back(std::move(parts));
    }
  }
  return detail;
}

}  // namespace sextant::step
