// The problem that a plan solves: the job with its layout left open, and its machine.
#pragma once

#include <optional>
#include <vector>

#include "app/context.h"
#include "app/plan_request.h"
#include "base/result.h"
#include "base/units.h"
#include "describe/assumption.h"
#include "emit/dialects.h"
#include "emit/settings.h"
#include "machine/machine.h"
#include "search/task.h"

namespace sextant::app {

struct PlanProblem : search::Task {
  std::optional<describe::Layout> users;          // of the user's own files
  std::vector<describe::Violation> users_broken;  // rules that those break
  std::optional<emit::Dialect> dialect;           // of those files
  std::vector<emit::Fact> facts;                  // what they say, and where
  std::optional<Seconds> measured_step;           // of a log
  machine::InputFiles inputs;
  describe::Assumptions assumed;
};

// From the words, or from the user's own files. A batch that was left open takes about four million
// tokens a step.
Result<PlanProblem> plan_problem(const PlanRequest& request, const PlanWishes& wishes,
                                 const Context& context);

}  // namespace sextant::app
