#include "app/work_command.h"

#include <utility>

#include "explain/violation_view.h"
#include "explain/work_view.h"

namespace sextant::app {

Result<Output> explain_work(const JobRequest& request, const Context& context) {
  SEXTANT_TRY(JobReading reading, read_job(request, context));
  const explain::Provenance provenance{std::string(explain::tool_version()),
                                       std::move(reading.inputs)};
  if (!reading.violations.empty()) {
    return Output{
        .text = explain::to_text(reading.violations, "explain", provenance, context.style),
        .notes = {},
        .exit_code = kExitNo};
  }
  const describe::Job& job = reading.job;
  const workload::Shard shard = workload::shard_of(job);
  explain::WorkAnswer answer;
  answer.microbatches = shard.microbatches;
  std::vector<workload::Stage> first_rank;
  for (workload::Stage& stage : workload::stages_of(job)) {
    std::vector<workload::Operator> operators = workload::stage_operators(job, stage, shard);
    if (stage.pipeline_rank == 0) {
      first_rank.push_back(stage);
    }
    answer.stages.push_back({std::move(stage), std::move(operators)});
  }
  answer.update = workload::update_operators(job, first_rank, shard);
  return Output{.text = explain::to_text(explain::work_tree(answer), provenance, context.style),
                .notes = {},
                .exit_code = kExitFine};
}

}  // namespace sextant::app
