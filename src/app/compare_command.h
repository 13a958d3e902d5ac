// compare: the steps of layouts, or of clusters, side by side.
#pragma once

#include <string>
#include <vector>

#include "app/answered.h"
#include "app/context.h"
#include "app/job_request.h"
#include "base/result.h"
#include "explain/compare_view.h"

namespace sextant::app {

struct CompareRequest {
  JobRequest job;                     // `layout` and `cluster` are those below
  std::vector<std::string> layouts;   // several, or …
  std::vector<std::string> clusters;  // … several of these
};

// Layouts that are not legal or do not fit are shown with the reason. Without a batch of their own
// all take the same: the least that each of them can divide, and none below its default.
// The outcome is no where none of them can run.
Result<Answered<explain::CompareAnswer>> compare(const CompareRequest& request,
                                                 const Context& context);

}  // namespace sextant::app
