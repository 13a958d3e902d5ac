// What a step takes beside compute and communication, and how much of either hides the other
// (data/step.toml).
#pragma once

#include "base/result.h"
#include "base/units.h"
#include "describe/data_store.h"
#include "describe/sourced.h"

namespace sextant::describe {

struct StepFacts {
  // Communication that runs beside compute.
  Sourced<double> hidden_tensor;   // share of tensor-parallel messages that their products hide
  Sourced<double> hidden_expert;   // share of expert messages that another microbatch hides
  Sourced<double> hiding_compute;  // share of compute that gathers and reductions may hide behind
  Sourced<double> slowed;          // compute lost for each second of communication beside it
  // Host of a training cluster, as a share of the time that the measured host takes.
  Sourced<double> host;
  // Beside the microbatches: clipping aside, what a training loop does once a step.
  Sourced<Seconds> loop;
  Sourced<double> uneven;  // what the slowest of many devices adds, as a share of compute
};
Result<StepFacts> step_facts(const DataStore& data);

}  // namespace sextant::describe
