// estimate: what one rank computes in a step, how long that takes and how well it uses the device.
// Communication and pipeline bubbles are not in it.
#pragma once

#include <string>

#include "app/context.h"
#include "app/job_request.h"
#include "base/result.h"
#include "explain/sweep_view.h"

namespace sextant::app {

struct EstimateRequest {
  JobRequest job;
  std::string sweep;      // parse_sweep; "": the job alone
  std::string plot_file;  // SVG or PNG of the sweep; "": not drawn
};

// Exit code 1 where the layout, or every point of the sweep, is not legal.
Result<Output> show_estimate(const EstimateRequest& request, const Context& context);

// The same as a tree of terms, down to the terms of every operator.
Result<Output> explain_compute(const JobRequest& request, const Context& context);

// The numbers of a sweep. An Error where words are wrong; the base may be illegal, which
// `violations` of the reading says.
Result<explain::SweepAnswer> sweep_answer(const JobReading& reading, const JobRequest& request,
                                          std::string_view sweep, const Context& context);

}  // namespace sextant::app
