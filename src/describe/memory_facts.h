// What a device's memory holds beside tensors, by family of frameworks, and how sure a rejection is
// (data/memory.toml).
#pragma once

#include "base/result.h"
#include "base/units.h"
#include "describe/data_store.h"
#include "describe/layout/layout.h"
#include "describe/sourced.h"

namespace sextant::describe {

struct MemoryFacts {
  Sourced<Bytes> workspace;       // tensors that are always there: library workspaces
  Sourced<double> rounding;       // allocated over the sum of tensors: blocks are not split exactly
  Sourced<double> fragmentation;  // reserved over allocated at the peak
  Sourced<Bytes> context;         // device memory outside the allocator
  // Share of the predicted memory that a rejection rests on where a framework's saved tensors were
  // not measured. The same for all families.
  Sourced<double> certainty;
};

Result<MemoryFacts> memory_facts(const DataStore& data, Framework framework);

}  // namespace sextant::describe
