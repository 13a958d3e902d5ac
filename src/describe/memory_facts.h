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
  Sourced<double> fragmentation;  // reserved over allocated at the peak, the median …
  Sourced<double> fragmentation_recomputed;  // … and where whole layers are computed again
  Sourced<double> spread;  // standard deviation of ln(reserved / what the model says of it)
  Sourced<Bytes> context;  // device memory outside the allocator
  // The same with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, as measured with Hugging Face's
  // models: what must be reserved, not what may be.
  Sourced<double> expandable_fragmentation;
  Sourced<double> expandable_spread;
  // Share of the predicted memory that a rejection rests on where a framework's saved tensors were
  // not measured. The same for all families.
  Sourced<double> certainty;
};

Result<MemoryFacts> memory_facts(const DataStore& data, Framework framework);

}  // namespace sextant::describe
