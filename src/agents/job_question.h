// What the knowledge base is asked about a job.
#pragma once

#include <vector>

#include "agents/analysis.h"
#include "agents/job_standing.h"
#include "kb/search.h"

namespace sextant::agents {

// Practices, then past optimisations, of what holds the job up; then of memory where it does not
// fit.
std::vector<kb::Question> job_questions(const Analysis& analysis, const Standing& standing);

}  // namespace sextant::agents
