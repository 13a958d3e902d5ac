// What the tests of schedules share: short names of actions, random pipelines.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <rapidcheck.h>

#include "schedule/generate.h"
#include "schedule/simulate.h"

namespace sextant::schedule {

inline constexpr ActionKind kF = ActionKind::kForward;
inline constexpr ActionKind kB = ActionKind::kBackward;
inline constexpr ActionKind kI = ActionKind::kInputGradient;
inline constexpr ActionKind kW = ActionKind::kWeightGradient;

inline bool near(Seconds a, Seconds b) {
  return std::abs((a - b).base()) <= 1e-9 * (1.0 + std::max(a, b).base());
}

// Costs that a span of PipelineCosts can point into.
struct OwnedCosts {
  std::vector<StageCosts> stages;
  std::vector<Seconds> forward_transfer;
  std::vector<Seconds> backward_transfer;
  std::vector<double> scale;
  TransferMode transfers = TransferMode::kOverlapped;
  double overlap = 1.0;

  [[nodiscard]] PipelineCosts view() const {
    return {stages, forward_transfer, backward_transfer, transfers, overlap, scale};
  }
};

// 0 to 3 s in steps that doubles hold exactly; now and then a tie.
inline Seconds random_time() {
  return Seconds(*rc::gen::inRange(0, 25) / 8.0);
}

inline StageCosts random_stage() {
  return {random_time(), random_time(), random_time(), random_time(), Seconds()};
}

inline OwnedCosts random_costs(std::int64_t stages) {
  OwnedCosts costs;
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    costs.stages.push_back(random_stage());
    if (stage > 0) {
      costs.forward_transfer.push_back(random_time());
      costs.backward_transfer.push_back(random_time());
    }
  }
  costs.transfers = *rc::gen::element(TransferMode::kOverlapped, TransferMode::kBlocking);
  costs.overlap = *rc::gen::element(0.0, 0.7, 1.0);
  return costs;
}

inline OwnedCosts equal_costs(std::int64_t stages, const StageCosts& stage, Seconds forward = {},
                              Seconds backward = {}) {
  OwnedCosts costs;
  costs.stages.assign(static_cast<std::size_t>(stages), stage);
  costs.forward_transfer.assign(static_cast<std::size_t>(stages - 1), forward);
  costs.backward_transfer.assign(static_cast<std::size_t>(stages - 1), backward);
  return costs;
}

// A shape of this schedule that action_table takes.
inline ScheduleShape random_shape(describe::Schedule schedule) {
  using describe::Schedule;
  ScheduleShape shape{.schedule = schedule, .pp = *rc::gen::inRange<std::int64_t>(1, 7)};
  const bool folds = schedule == Schedule::kZbv || schedule == Schedule::kDualPipeV;
  const bool single = schedule == Schedule::kGpipe || schedule == Schedule::k1f1b ||
                      schedule == Schedule::kDualPipe;
  shape.vpp = folds ? 2 : single ? 1 : *rc::gen::inRange<std::int64_t>(1, 5);
  shape.microbatches = *rc::gen::inRange<std::int64_t>(1, 21);
  if (schedule == Schedule::kDualPipe) {
    shape.pp = shape.pp > 1 ? shape.pp / 2 * 2 : 1;
    shape.microbatches = 2 * (shape.pp + shape.microbatches);
  }
  if (schedule == Schedule::kDualPipeV) {
    shape.microbatches += 2 * shape.pp;
  }
  if (!single && !folds && !check_shape(shape)) {
    shape.microbatches *= shape.pp;
  }
  return shape;
}

inline ScheduleShape random_shape() {
  using describe::Schedule;
  return random_shape(*rc::gen::element(
      Schedule::kGpipe, Schedule::k1f1b, Schedule::kInterleaved1f1b, Schedule::kLoopedBfs,
      Schedule::kInterleavedZeroBubble, Schedule::kZbv, Schedule::kDualPipe, Schedule::kDualPipeV));
}

inline CompiledTable compiled_table(const ScheduleShape& shape) {
  return *compiled(*action_table(shape));
}

}  // namespace sextant::schedule
