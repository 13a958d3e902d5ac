#include "schedule/closed_form.h"

#include <algorithm>

#include "schedule/one_path.h"

namespace sextant::schedule {

using describe::Schedule;

namespace {

// One direction of looped BFS: the next chunk starts when the rank is done with this one, or when
// the first microbatch has been round all ranks.
Seconds looped_direction(const ScheduleShape& shape, Seconds stage, Seconds transfer) {
  const auto pp = static_cast<double>(shape.pp);
  const auto m = static_cast<double>(shape.microbatches);
  const Seconds hop = stage + transfer;
  return static_cast<double>(shape.vpp - 1) * std::max(m * stage, pp * hop) + (pp - 1.0) * hop +
         m * stage;
}

std::optional<Seconds> interleaved_makespan(const ScheduleShape& shape, const EqualStages& costs) {
  const auto pp = static_cast<double>(shape.pp);
  const auto vpp = static_cast<double>(shape.vpp);
  const auto m = static_cast<double>(shape.microbatches);
  const Seconds both = costs.stage.forward + costs.stage.backward;
  const Seconds transfers = costs.forward_transfer + costs.backward_transfer;
  const bool free = transfers == Seconds();
  if (shape.group != 0 || shape.pairs || (!free && shape.microbatches % shape.pp != 0)) {
    return std::nullopt;
  }
  if (shape.microbatches < shape.pp) {
    return (m * vpp + pp - 1.0 + (vpp - 1.0) * (pp - m)) * both;
  }
  const bool hidden = costs.forward_transfer <= costs.stage.backward &&
                      costs.backward_transfer <= costs.stage.forward;
  if (!hidden) {
    return std::nullopt;
  }
  return (m * vpp + pp - 1.0) * both + (pp * vpp - 1.0) * transfers;
}

std::optional<Seconds> interleaved_zero_bubble(const ScheduleShape& shape, const StageCosts& cost) {
  if (shape.group != 0 || shape.microbatches % shape.pp != 0) {
    return std::nullopt;
  }
  const Seconds work = cost.forward + cost.input_gradient + cost.weight_gradient;
  const Seconds wait = std::max({cost.forward, cost.input_gradient,
                                 cost.forward + cost.input_gradient - cost.weight_gradient});
  return static_cast<double>(shape.microbatches * shape.vpp) * work +
         static_cast<double>(shape.pp - 1) * wait;
}

// Schedules whose bubble is known for forward = input gradient = weight gradient only.
std::optional<Seconds> folded_makespan(const ScheduleShape& shape, const StageCosts& cost) {
  const Seconds unit = cost.forward;
  const bool even = cost.input_gradient == unit && cost.weight_gradient == unit;
  const bool whole = cost.backward == 2.0 * unit;
  const std::int64_t work = 3 * shape.microbatches * shape.vpp;
  if (!even) {
    return std::nullopt;
  }
  if (shape.schedule == Schedule::kZbv) {
    return shape.microbatches >= 2 * shape.pp - 1
               ? std::optional(static_cast<double>(work + shape.pp - 1) * unit)
               : std::nullopt;
  }
  if (!whole) {
    return std::nullopt;
  }
  const std::int64_t waits = shape.schedule == Schedule::kDualPipeV
                                 ? 2 * (shape.pp - 1)
                                 : std::max<std::int64_t>(shape.pp - 2, 0);
  return static_cast<double>(work + waits) * unit;
}

Seconds one_f_one_b_equal(const ScheduleShape& shape, const EqualStages& costs) {
  const std::int64_t later = shape.microbatches - 1;
  const std::int64_t hops = shape.pp - 1 + later - (later + shape.pp - 1) / shape.pp;
  return static_cast<double>(shape.microbatches + shape.pp - 1) *
             (costs.stage.forward + costs.stage.backward) +
         static_cast<double>(hops) * (costs.forward_transfer + costs.backward_transfer);
}

}  // namespace

std::optional<Seconds> equal_stage_makespan(const ScheduleShape& shape, const EqualStages& given) {
  if (!check_shape(shape)) {
    return std::nullopt;
  }
  // One rank sends nothing.
  const EqualStages costs = shape.pp > 1 ? given : EqualStages{given.stage, {}, {}};
  const bool free = costs.forward_transfer + costs.backward_transfer == Seconds();
  switch (shape.schedule) {
    case Schedule::kGpipe:
    case Schedule::kLoopedBfs:
      return looped_direction(shape, costs.stage.forward, costs.forward_transfer) +
             looped_direction(shape, costs.stage.backward, costs.backward_transfer);
    case Schedule::k1f1b:
      return one_f_one_b_equal(shape, costs);
    case Schedule::kInterleaved1f1b:
      return interleaved_makespan(shape, costs);
    case Schedule::kInterleavedZeroBubble:
      return free ? interleaved_zero_bubble(shape, costs.stage) : std::nullopt;
    case Schedule::kZbv:
    case Schedule::kDualPipe:
    case Schedule::kDualPipeV:
      return free ? folded_makespan(shape, costs.stage) : std::nullopt;
  }
  return std::nullopt;
}

Seconds gpipe_makespan(const PipelineCosts& costs, std::int64_t microbatches) {
  const StageView view(costs);
  Seconds once;
  Seconds slowest_forward;
  Seconds slowest_backward;
  for (std::size_t stage = 0; stage < view.stages(); ++stage) {
    slowest_forward = std::max(slowest_forward, view.forward(stage));
    slowest_backward = std::max(slowest_backward, view.backward(stage));
    once += view.forward(stage) + view.backward(stage) + view.down(stage) + view.up(stage);
  }
  return once + static_cast<double>(microbatches - 1) * (slowest_forward + slowest_backward);
}

std::optional<Seconds> one_f_one_b_makespan(const PipelineCosts& costs, std::int64_t microbatches,
                                            std::vector<double>& scratch) {
  const StageView view(costs);
  for (std::size_t stage = 0; stage < view.stages(); ++stage) {
    if (view.down(stage) > Seconds() || view.up(stage) > Seconds()) {
      return std::nullopt;
    }
  }
  return longest_one_f_one_b_path(view, microbatches, scratch);
}

MakespanBounds one_f_one_b_bounds(const PipelineCosts& costs, std::int64_t microbatches,
                                  std::vector<double>& scratch) {
  PipelineCosts blocking = costs;
  blocking.transfers = TransferMode::kBlocking;
  return {longest_one_f_one_b_path(StageView(costs), microbatches, scratch),
          longest_one_f_one_b_path(StageView(blocking), microbatches, scratch)};
}

}  // namespace sextant::schedule
