// A problem with the whole machine behind it: what can be asked on other clusters, and of which
// everything can be said.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "describe/layout/rules.h"
#include "machine/machine.h"
#include "search/problem.h"
#include "step/step_answer.h"

namespace sextant::search {

struct Task {
  Problem problem;
  machine::StepMachine machine;  // problem.machine and problem.memory are its own
};

// The machine of a task whose job has changed, put into it.
Result<void> renew_machine(Task& task, const describe::DataStore& data);

// The same on another number of devices of the same kind. An Error where that is not known: slices
// of TPUs come in fixed shapes.
Result<Task> with_devices(const Task& task, std::int64_t devices, const describe::DataStore& data);

// Rules that the task's job breaks under a layout; risks and notes apart.
std::vector<describe::Violation> broken_rules(const Task& task, const describe::Layout& layout);

// A layout of the problem as ‹layout› takes it. What does nothing is left out: who sends contexts
// where there are none, or tokens to experts that are all at home.
std::string words_of(const Problem& problem, describe::Layout layout);

// A layout with everything that is said of its step.
struct PlanRow {
  describe::Layout layout;
  std::int64_t dp = 1;
  std::string words;  // as --layout takes it
  std::string mesh;   // in JAX's words, "ici:fsdp=64,tensor=4;dcn:data=2"; "": no JAX framework
  step::Estimate result;
};
// REQUIRES: it is legal.
PlanRow plan_row(const Task& task, const describe::Layout& layout);

}  // namespace sextant::search
