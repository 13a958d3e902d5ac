// What a CPU does as a training device (data/processor.toml): the part that micro-benchmarks of
// products and messages leave open.
#pragma once

#include "base/result.h"
#include "base/units.h"
#include "describe/data_store.h"
#include "describe/sourced.h"

namespace sextant::describe {

struct ProcessorFacts {
  Sourced<double> memory_share;           // of the memory's peak that a machine sustains
  Sourced<BytesPerSecond> thread_memory;  // the most that one thread draws
  Sourced<Seconds> call;                  // to begin an operator
};

Result<ProcessorFacts> processor_facts(const DataStore& data);

}  // namespace sextant::describe
