// What a simulation of a pipeline (schedule/simulate.h) is given, from the costs of its stages.
#pragma once

#include <vector>

#include "schedule/simulate.h"
#include "step/stage_cost.h"

namespace sextant::step {

// Owns what schedule::PipelineCosts looks at.
struct PipelineCostLists {
  std::vector<schedule::StageCosts> stages;
  std::vector<Seconds> forward;  // message from each stage to the next
  std::vector<Seconds> backward;
  bool hidden = true;

  [[nodiscard]] schedule::PipelineCosts view() const {
    schedule::PipelineCosts costs;
    costs.stages = stages;
    costs.forward_transfer = forward;
    costs.backward_transfer = backward;
    costs.transfers =
        hidden ? schedule::TransferMode::kOverlapped : schedule::TransferMode::kBlocking;
    return costs;
  }
};

// All times `stretch`. `stages`: in model order.
inline PipelineCostLists pipeline_costs(const std::vector<StageCost>& stages,
                                        double stretch = 1.0) {
  PipelineCostLists costs;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Seconds backward = stages[i].backward.total() * stretch;
    const Seconds weights = stages[i].weight_part() * stretch;
    costs.stages.push_back(
        {stages[i].forward.total() * stretch, backward, backward - weights, weights, Seconds()});
    costs.hidden = costs.hidden && stages[i].sends_hidden;
    if (i + 1 < stages.size()) {
      costs.forward.push_back(stages[i].send_forward * stretch);
      costs.backward.push_back(stages[i + 1].send_backward * stretch);
    }
  }
  return costs;
}

}  // namespace sextant::step
