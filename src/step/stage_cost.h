// What one pipeline stage takes for one microbatch and once a step: compute, and the communication
// that nothing hides.
//
// Messages that the framework hides behind compute (workload::Hides) are exposed as far as they are
// longer than what hides them: tensor-parallel ones behind their product (a share), ring attention
// behind attention, gathers of parameters behind the layers before, expert and pipeline messages
// behind another microbatch. Compute beside communication is slower by `slowed` of its time.
#pragma once

#include "cost/compute/rank_time.h"
#include "step/step_model.h"
#include "workload/groups.h"
#include "workload/stages.h"

namespace sextant::step {

// One pass of one microbatch.
struct PassCost {
  Seconds compute;    // of the device
  Seconds host;       // to issue it
  Seconds tail;       // as cost::PhaseTime
  Seconds slowed;     // what communication beside it adds
  AxisTimes exposed;  // but messages between stages
  AxisTimes hidden;
  [[nodiscard]] Seconds device() const { return compute + slowed + exposed.total(); }
  // Alone, host and device together.
  [[nodiscard]] Seconds total() const {
    const Seconds issued = host + tail;
    return device() < issued ? issued : device();
  }
};

struct StageCost {
  PassCost forward;
  PassCost backward;
  Seconds weight_gradient;  // of the backward's compute
  Seconds send_forward;     // a message to the next stage
  Seconds send_backward;
  bool sends_hidden = false;
  // Once a step.
  AxisTimes reduced;       // gradients, where backward may hide them
  Seconds reduced_last;    // the last bucket, which nothing hides
  AxisTimes reduced_bare;  // gradients that nothing hides
  AxisTimes gathered;      // parameters, where forward may hide them
  Seconds gathered_first;
  AxisTimes gathered_bare;
  AxisTimes around_update;  // norms and the like
  cost::PhaseTime update;
};

// REQUIRES: the job is legal; stage, shard and grid are its.
StageCost stage_cost(const describe::Job& job, const workload::Stage& stage,
                     const workload::Shard& shard, const workload::RankGrid& grid,
                     const StepModel& model);

}  // namespace sextant::step
