// Training jobs that planners are compared on, ready to be searched.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "app/job_request.h"
#include "describe/layout/layout_text.h"
#include "machine/machine.h"
#include "search/problem.h"

namespace sextant::tests {

struct Scenario {
  std::string model;
  std::string cluster;
  std::int64_t batch = 0;     // sequences a step
  std::int64_t sequence = 0;  // tokens
  std::string layout = {};    // keys that the search starts from
};

// The layout of the problem is Megatron Core's usual one, with the scenario's keys; nothing is
// fixed.
inline Result<search::Problem> problem_of(const Scenario& scenario, const app::Context& context) {
  app::JobRequest request;
  request.model = scenario.model;
  request.cluster = scenario.cluster;
  request.layout = scenario.layout;
  request.framework = "megatron-core";
  request.sequences = fmt::format("{}", scenario.sequence);
  request.global_batch = fmt::format("{}", scenario.batch);
  SEXTANT_TRY(app::JobReading reading, app::read_job(request, context));
  SEXTANT_TRY(machine::StepMachine machine, machine::step_machine(reading.job, context.data));
  search::Problem problem;
  problem.job = std::move(reading.job);
  problem.job.layout.dp = 0;
  problem.machine = std::move(machine.model);
  problem.memory = machine.memory;
  return problem;
}

}  // namespace sextant::tests
