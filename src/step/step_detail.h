// What a step's explanation goes down to: operators and priced messages of the slowest pipeline
// rank's stages.
#pragma once

#include <cstddef>
#include <vector>

#include "cost/compute/operator_time.h"
#include "describe/layout/job.h"
#include "describe/step_facts.h"
#include "step/step_answer.h"
#include "step/step_model.h"
#include "workload/collective.h"

namespace sextant::step {

struct PricedMessage {
  workload::Collective message;
  Seconds each;  // of its `count` calls
};

// What one stage is made of.
struct StageParts {
  std::size_t stage = 0;                      // in Estimate::stages
  std::vector<cost::OperatorTime> operators;  // of a microbatch
  std::vector<cost::OperatorTime> update;
  std::vector<PricedMessage> messages;
};

struct StepDetail {
  std::vector<StageParts> stages;  // of the slowest rank: operators and messages
  std::vector<StageParts> once;    // of StepTerms::once_rank: update and messages
  describe::StepFacts facts;
};

// REQUIRES: the job is legal, `result` is its.
StepDetail step_detail(const describe::Job& job, const Estimate& result, const StepModel& model);

}  // namespace sextant::step
