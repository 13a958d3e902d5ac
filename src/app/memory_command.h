// memory: what a layout needs on each pipeline rank, and whether it fits.
#pragma once

#include "app/answered.h"
#include "app/context.h"
#include "app/job_request.h"
#include "base/result.h"
#include "explain/memory_view.h"

namespace sextant::app {

// The outcome is no where the layout is not legal or does not fit.
Result<Answered<OrIllegal<explain::MemoryAnswer>>> memory(const JobRequest& request,
                                                          const Context& context);
// The same as a tree of terms, down to the tensors of each layer.
Result<Explained> explain_memory(const JobRequest& request, const Context& context);

}  // namespace sextant::app
