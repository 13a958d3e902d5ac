// summarize: profiles of ranks as a summary of some hundred kilobytes, to be joined with others.
#pragma once

#include <string>

#include "app/answered.h"
#include "app/context.h"
#include "app/trace_reading.h"
#include "app/use_case.h"
#include "base/result.h"
#include "explain/summarize_view.h"

namespace sextant::app {

struct SummarizeRequest {
  TraceRequest traces;
  std::string out = {};  // "": beside the first profile, named after it
};

// The summary is an artifact.
Result<Answered<explain::SummarizeAnswer>> summarize(const SummarizeRequest& request,
                                                     const Context& context,
                                                     const Control& control);

}  // namespace sextant::app
