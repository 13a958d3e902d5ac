// What is said of a job before any change is: facts with their sources, key figures, what holds it
// up by these and once operators and findings are looked at, and whose axis is to blame.
//
// Of a recorded run that is what the profile shows; without one, the model's own terms, and every
// figure says so.
#pragma once

#include "agents/job_standing.h"
#include "agents/tune_job.h"

namespace sextant::agents {

Analysis job_analysis(const JobCase& asked, const Standing& standing);

}  // namespace sextant::agents
