// Memory of a job: what each pipeline rank holds at its fullest moment, and whether it fits.
#pragma once

#include <string>

#include "cost/memory/record.h"
#include "describe/layout/job.h"
#include "explain/provenance.h"
#include "explain/style.h"
#include "explain/term_tree.h"
#include "step/step_answer.h"

namespace sextant::explain {

struct MemoryAnswer {
  Provenance provenance;
  describe::Job job;
  step::MemoryEstimate memory;
};

std::string to_text(const MemoryAnswer& answer, const Style& style);

// The fullest rank's peak, down to the tensors of each layer: what was noted of it while it was
// computed. The parts of every term add up to it.
Term memory_tree(const cost::RankMemory& fullest, const cost::MemoryRecord& record);

}  // namespace sextant::explain
