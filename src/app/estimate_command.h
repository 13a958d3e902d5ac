// estimate: how long a step takes, where the time goes, whether it fits; what training on so many
// tokens takes; the same over one factor varied.
#pragma once

#include <string>

#include "app/answered.h"
#include "app/context.h"
#include "app/job_request.h"
#include "app/training_run.h"
#include "base/result.h"
#include "explain/estimate_view.h"
#include "explain/sweep_view.h"

namespace sextant::app {

struct EstimateRequest {
  JobRequest job;
  std::string sweep;          // describe::parse_sweep; "": the job alone
  std::string plot_file;      // SVG or PNG of the sweep; "": not drawn
  std::string timeline_file;  // the step as a Chrome trace; "": not written
  TrainingRequest training;
  bool verbose = false;  // compute in detail
};

// Of the job alone, or of a sweep. The outcome is no where the layout, or every point of the sweep,
// is not legal or does not fit.
using EstimateReply = OrIllegal<explain::EstimateAnswer, explain::SweepAnswer>;
Result<Answered<EstimateReply>> estimate(const EstimateRequest& request, const Context& context);

// Compute as a tree of terms, down to the terms of every operator.
Result<Explained> explain_compute(const JobRequest& request, const Context& context);
// The whole step as a tree: terms, stages, passes, messages, operators.
Result<Explained> explain_step(const JobRequest& request, const Context& context);

// The numbers of a sweep. An Error where words are wrong; the base may be illegal, which
// `violations` of the reading says.
Result<explain::SweepAnswer> sweep_answer(const JobReading& reading, std::string_view sweep,
                                          const Context& context);

}  // namespace sextant::app
