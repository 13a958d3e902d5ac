#include "app/memory_command.h"

#include <utility>

namespace sextant::app {

Result<Answered<OrIllegal<explain::MemoryAnswer>>> memory(const JobRequest& request,
                                                          const Context& context) {
  using Reached = Answered<OrIllegal<explain::MemoryAnswer>>;
  SEXTANT_TRY(JobReading reading, read_job(request, context));
  if (!reading.violations.empty()) {
    return Reached{not_legal(reading, "memory"), Outcome::kNo};
  }
  SEXTANT_TRY(const describe::MemoryFacts facts,
              describe::memory_facts(context.data, reading.job.framework));
  explain::MemoryAnswer answer{.provenance = provenance_of(reading),
                               .job = reading.job,
                               .memory = step::memory_estimate(reading.job, facts)};
  const Outcome outcome = answer.memory.fits() ? Outcome::kFine : Outcome::kNo;
  return Reached{std::move(answer), outcome, std::move(reading.risks)};
}

Result<Explained> explain_memory(const JobRequest& request, const Context& context) {
  SEXTANT_TRY(const JobReading reading, read_job(request, context));
  if (!reading.violations.empty()) {
    return Explained{not_legal(reading, "explain"), Outcome::kNo};
  }
  const describe::Job& job = reading.job;
  SEXTANT_TRY(const describe::MemoryFacts facts,
              describe::memory_facts(context.data, job.framework));
  const step::MemoryEstimate memory = step::memory_estimate(job, facts);
  const auto record = step::memory_record(job, facts, memory.fullest.pipeline_rank);
  return Explained{.answer = explain::TreeAnswer{explain::memory_tree(memory.fullest, record),
                                                 provenance_of(reading)},
                   .notes = reading.risks};
}

}  // namespace sextant::app
