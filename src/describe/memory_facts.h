// What a device's memory holds beside tensors, by family of frameworks (data/memory.toml).
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
};

Result<MemoryFacts> memory_facts(const DataStore& data, Framework framework);

}  // namespace sextant::describe
