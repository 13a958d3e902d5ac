// The changes worth making to a user's own job, in the words of the user's own files.
#pragma once

#include <string>
#include <vector>

#include "app/plan_problem.h"
#include "search/plan_path.h"

namespace sextant::app {

// For each step of the path the settings that it changes: "--tensor-model-parallel-size 4, without
// --sequence-parallel" of a launch script, "parallelism.tp: 4" of a file. "" of a step that the
// framework's files do not speak of. REQUIRES: the problem is of files.
std::vector<std::string> path_settings(const PlanProblem& of, const search::PlanPath& path);

}  // namespace sextant::app
