#include "app/memory_command.h"

#include <utility>

namespace sextant::app {
namespace {

Result<explain::MemoryAnswer> memory_answer(JobReading reading, const Context& context) {
  explain::MemoryAnswer answer;
  answer.provenance = provenance_of(reading);
  answer.job = std::move(reading.job);
  SEXTANT_TRY(answer.facts, describe::memory_facts(context.data, answer.job.framework));
  cost::MemoryModel model(answer.job, answer.facts);
  for (std::int64_t rank = 0; rank < answer.job.layout.pp; ++rank) {
    answer.ranks.push_back(model.rank(answer.job.layout, rank));
    if (answer.ranks.back().allocated > answer.ranks[answer.fullest].allocated) {
      answer.fullest = answer.ranks.size() - 1;
    }
  }
  answer.rejection = cost::memory_rejection(answer.ranks[answer.fullest],
                                            answer.job.cluster.device.usable_memory());
  if (answer.rejection) {
    answer.changes = cost::fitting_changes(answer.job, answer.facts);
  }
  return answer;
}

}  // namespace

Result<Answered<OrIllegal<explain::MemoryAnswer>>> memory(const JobRequest& request,
                                                          const Context& context) {
  using Reached = Answered<OrIllegal<explain::MemoryAnswer>>;
  SEXTANT_TRY(JobReading reading, read_job(request, context));
  if (!reading.violations.empty()) {
    return Reached{not_legal(reading, "memory"), Outcome::kNo};
  }
  SEXTANT_TRY(explain::MemoryAnswer answer, memory_answer(std::move(reading), context));
  const Outcome outcome = answer.rejection ? Outcome::kNo : Outcome::kFine;
  return Reached{std::move(answer), outcome};
}

Result<Explained> explain_memory(const JobRequest& request, const Context& context) {
  SEXTANT_TRY(JobReading reading, read_job(request, context));
  if (!reading.violations.empty()) {
    return Explained{not_legal(reading, "explain"), Outcome::kNo};
  }
  SEXTANT_TRY(const explain::MemoryAnswer answer, memory_answer(std::move(reading), context));
  const cost::MemoryRecord record =
      cost::MemoryModel(answer.job, answer.facts)
          .why(answer.job.layout, answer.ranks[answer.fullest].pipeline_rank);
  return Explained{explain::TreeAnswer{explain::memory_tree(answer, record), answer.provenance}};
}

}  // namespace sextant::app
