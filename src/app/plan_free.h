// What changes convergence, freed by name: --free gbs,precision,seq.
#pragma once

#include <string>
#include <vector>

#include "app/plan_problem.h"
#include "base/result.h"
#include "search/free_choices.h"

namespace sextant::app {

// Each once; none of "". An Error where a word is none of them, or what it names cannot be freed.
Result<std::vector<search::Free>> freed_kinds(const std::string& text, const PlanProblem& of);

}  // namespace sextant::app
