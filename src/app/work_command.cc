#include "app/work_command.h"

#include <utility>

#include "explain/work_view.h"

namespace sextant::app {

Result<Explained> explain_work(const JobRequest& request, const Context& context) {
  SEXTANT_TRY(const JobReading reading, read_job(request, context));
  if (!reading.violations.empty()) {
    return Explained{not_legal(reading, "explain"), Outcome::kNo};
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
  return Explained{
      .answer = explain::TreeAnswer{explain::work_tree(answer), provenance_of(reading)},
      .notes = reading.risks};
}

}  // namespace sextant::app
