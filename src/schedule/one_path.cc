#include "schedule/one_path.h"

#include <algorithm>

#include "schedule/closed_form.h"

namespace sextant::schedule {

namespace {

// One end of a path at a stage: until its first backward starts, or after its last forward.
struct End {
  double shallow = 0.0;  // without going deeper than the stage
  double longest = 0.0;  // by any way
};

// Both ends at once, kept to, or turned over at once where all forwards come first.
double joined(const End& fill, double kept, const End& drain, bool turns_at_once) {
  return turns_at_once ? std::max(fill.shallow + drain.longest, fill.longest + drain.shallow)
                       : fill.longest + kept + drain.longest;
}

// Microbatches that rank runs forward before its first backward, counted by chunk: groups of pp go
// through chunk 0, then chunk 1, and so on.
std::int64_t held_by_chunk(const ScheduleShape& shape, std::int64_t started, std::int64_t chunk) {
  const std::int64_t round = shape.pp * shape.vpp;
  const std::int64_t rest = started % round - chunk * shape.pp;
  return started / round * shape.pp + std::clamp<std::int64_t>(rest, 0, shape.pp);
}

// One rank of an interleaved pipeline, if it never waited once it has begun.
struct RankWork {
  double fill = 0.0;       // until its first backward
  double kept = 0.0;       // from there to its last forward
  double drain = 0.0;      // and on to the end of the first stage
  bool all_first = false;  // all forwards come before the first backward
};

RankWork rank_work(const ScheduleShape& shape, const StageView& view, std::size_t rank) {
  const std::int64_t all = shape.microbatches * shape.vpp;
  const std::int64_t after = shape.pp - 1 - static_cast<std::int64_t>(rank);
  const std::int64_t started = std::min(all, (shape.vpp - 1) * shape.pp + 2 * after + 1);
  RankWork work;
  work.all_first = started == all;
  for (std::int64_t chunk = 0; chunk < shape.vpp; ++chunk) {
    const std::size_t stage = static_cast<std::size_t>(chunk * shape.pp) + rank;
    const double f = view.forward(stage).base();
    const double b = view.backward(stage).base();
    const std::int64_t held = held_by_chunk(shape, started, chunk);
    work.fill += static_cast<double>(held) * f;
    work.drain += static_cast<double>(held) * b;
    work.kept += static_cast<double>(shape.microbatches - held) * (f + b);
  }
  for (std::size_t before = 0; before < rank; ++before) {
    work.fill += (view.forward(before) + view.down(before)).base();
    work.drain += (view.backward(before) + view.up(before)).base();
  }
  return work;
}

}  // namespace

Seconds longest_one_f_one_b_path(const StageView& view, std::int64_t microbatches,
                                 std::vector<double>& scratch) {
  const std::size_t stages = view.stages();
  const auto warm_up = [&](std::size_t stage) {
    return std::min(microbatches, static_cast<std::int64_t>(stages - stage));
  };
  scratch.resize(2 * stages);
  double all_forward = 0.0;
  double all_backward = 0.0;
  double slowest_forward = 0.0;
  double slowest_backward = 0.0;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const double f = view.forward(stage).base();
    const double b = view.backward(stage).base();
    slowest_forward = std::max(slowest_forward, f);
    slowest_backward = std::max(slowest_backward, b);
    const auto more = static_cast<double>(warm_up(stage) - 1);
    scratch[2 * stage] = all_forward + f + more * slowest_forward;
    scratch[2 * stage + 1] = all_backward + b + more * slowest_backward;
    all_forward += f + view.down(stage).base();
    all_backward += b + view.up(stage).base();
  }
  double best = 0.0;
  double fill_below = 0.0;  // by way of the stage after; nothing below the last
  double drain_below = 0.0;
  for (std::size_t stage = stages; stage-- > 0;) {
    const double f = view.forward(stage).base();
    const double b = view.backward(stage).base();
    const End fill{scratch[2 * stage], std::max(scratch[2 * stage], fill_below)};
    const End drain{scratch[2 * stage + 1], std::max(scratch[2 * stage + 1], drain_below)};
    const std::int64_t rest = microbatches - warm_up(stage);
    best = std::max(best, joined(fill, static_cast<double>(rest) * (f + b), drain, rest == 0));
    if (stage > 0) {
      fill_below = fill.longest + b + view.up(stage - 1).base();
      drain_below = drain.longest + f + view.down(stage - 1).base();
    }
  }
  return Seconds(best);
}

Seconds interleaved_lower_bound(const ScheduleShape& shape, const PipelineCosts& costs) {
  const StageView view(costs);
  double deep_fill = 0.0;  // by way of the last stage and back to the rank at hand
  double deep_drain = 0.0;
  for (std::size_t stage = 0; stage < view.stages(); ++stage) {
    deep_fill += (view.forward(stage) + view.down(stage)).base();
    deep_drain += (view.backward(stage) + view.up(stage)).base();
  }
  double best = 0.0;
  for (auto rank = static_cast<std::size_t>(shape.pp); rank-- > 0;) {
    const RankWork work = rank_work(shape, view, rank);
    best = std::max(best, joined({work.fill, std::max(work.fill, deep_fill)}, work.kept,
                                 {work.drain, std::max(work.drain, deep_drain)}, work.all_first));
    const std::size_t last = view.stages() - static_cast<std::size_t>(shape.pp) + rank;
    if (rank > 0) {
      deep_fill += (view.backward(last) + view.up(last - 1)).base();
      deep_drain += (view.forward(last) + view.down(last - 1)).base();
    }
  }
  return Seconds(best);
}

}  // namespace sextant::schedule
