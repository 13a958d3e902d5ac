// A job's step with everything that is said of it: time and terms, use of the devices, memory.
#pragma once

#include "base/result.h"
#include "describe/layout/job.h"
#include "explain/compute_view.h"
#include "explain/step_result.h"
#include "machine/machine.h"

namespace sextant::app {

// Beyond it, shapes leave the integers that operators are counted in.
Result<void> check_tokens(const describe::Job& job);

// REQUIRES: the job is legal, check_tokens holds.
explain::StepResult step_result(const describe::Job& job, const machine::StepMachine& machine);

// What one pipeline rank computes, clipping included. REQUIRES: as step_result.
explain::ComputeEstimate compute_estimate(const describe::Job& job, std::int64_t pipeline_rank,
                                          const cost::DeviceModel& device,
                                          const describe::HostFacts& host);
// Of the rank that computes longest.
explain::ComputeEstimate slowest_compute(const describe::Job& job, const cost::DeviceModel& device,
                                         const describe::HostFacts& host);

}  // namespace sextant::app
