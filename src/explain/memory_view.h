// Memory of a job: what each pipeline rank holds at its fullest moment, and whether it fits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cost/memory/fit.h"
#include "cost/memory/memory.h"
#include "cost/memory/record.h"
#include "describe/layout/job.h"
#include "explain/provenance.h"
#include "explain/style.h"
#include "explain/term_tree.h"

namespace sextant::explain {

struct MemoryAnswer {
  Provenance provenance;
  describe::Job job;
  describe::MemoryFacts facts;
  std::vector<cost::RankMemory> ranks;  // one a pipeline rank
  std::size_t fullest = 0;              // index into ranks
  std::optional<cost::MemoryRejection> rejection;
  std::vector<cost::FittingChange> changes;  // where rejected
};

std::string to_text(const MemoryAnswer& answer, const Style& style);

// The fullest rank's peak, down to the tensors of each layer: what was noted of it while it was
// computed. The parts of every term add up to it.
Term memory_tree(const MemoryAnswer& answer, const cost::MemoryRecord& record);

}  // namespace sextant::explain
