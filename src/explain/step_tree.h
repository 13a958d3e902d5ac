// A step as a tree: its terms, down to stages, passes, messages and operators of the slowest
// pipeline rank. The parts of every term add up to it.
#pragma once

#include <vector>

#include "cost/compute/rank_time.h"
#include "describe/layout/job.h"
#include "describe/step_facts.h"
#include "explain/step_result.h"
#include "explain/term_tree.h"
#include "workload/collective.h"

namespace sextant::explain {

struct PricedMessage {
  workload::Collective message;
  Seconds each;  // of its `count` calls
};

// What one stage is made of.
struct StageParts {
  std::size_t stage = 0;                      // in StepResult::stages
  std::vector<cost::OperatorTime> operators;  // of a microbatch
  std::vector<cost::OperatorTime> update;
  std::vector<PricedMessage> messages;
};

struct StepDetail {
  std::vector<StageParts> stages;  // of the slowest rank: operators and messages
  std::vector<StageParts> once;    // of StepTerms::once_rank: update and messages
  describe::StepFacts facts;
};

Term step_tree(const StepResult& result, const StepDetail& detail, const describe::Job& job);

}  // namespace sextant::explain
