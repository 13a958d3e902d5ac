// The problem that a plan solves: the job with its layout left open, and its machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/context.h"
#include "app/plan_request.h"
#include "base/result.h"
#include "describe/assumption.h"
#include "explain/plan_view.h"
#include "machine/machine.h"
#include "search/problem.h"

namespace sextant::app {

struct PlanProblem {
  search::Problem problem;
  machine::StepMachine machine;           // problem.machine and problem.memory are its own
  std::optional<describe::Layout> users;  // of the user's own files
  std::vector<std::string> users_broken;  // rules that those break
  machine::InputFiles inputs;
  describe::Assumptions assumed;
};

// From the words, or from the user's own files. A batch that was left open takes about four million
// tokens a step.
Result<PlanProblem> plan_problem(const PlanRequest& request, const PlanWishes& wishes,
                                 const Context& context);

// The same on another number of devices of the same kind. An Error where that is not known: slices
// of TPUs come in fixed shapes.
Result<PlanProblem> with_devices(const PlanProblem& of, std::int64_t devices,
                                 const Context& context);

// The machine of a problem whose job has changed, put into it.
Result<void> renew_machine(PlanProblem& of, const Context& context);

// Keys that the search chooses; the others keep the job's value.
bool is_searched(std::string_view key);

// Everything that is said of one layout. REQUIRES: it is legal.
explain::PlanRow plan_row(const PlanProblem& of, const describe::Layout& layout);

// Rules that the problem's job breaks under a layout, as text; risks and notes apart.
std::vector<std::string> broken_rules(const PlanProblem& of, const describe::Layout& layout);

}  // namespace sextant::app
