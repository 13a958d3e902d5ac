#include "step/step_timeline.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "schedule/generate.h"
#include "step/pipeline_costs.h"

namespace sextant::step {
namespace {

using schedule::ActionKind;
using timeline::SpanKind;
using timeline::Timeline;

// Exposed once a step on the slowest rank, by axis: what its passes leave of the whole. For pp that
// holds messages between stages too, which the pipeline draws.
AxisTimes once_a_step(const Estimate& result) {
  AxisTimes once = result.step.exposed;
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    if (result.stages[i].pipeline_rank != result.step.slowest_rank) {
      continue;
    }
    for (const PassCost* pass : {&result.step.stages[i].forward, &result.step.stages[i].backward}) {
      once += pass->exposed * -as_double(result.microbatches);
    }
  }
  constexpr double kRounding = 1e-9;
  for (Seconds& time : once.times) {
    time = time > result.step.step * kRounding ? time : Seconds();
  }
  return once;
}

// What of the pp axis belongs to the tail: no more than a rank sends once a step.
Seconds pipeline_once(const Estimate& result) {
  Seconds sum;
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    const StageCost& stage = result.step.stages[i];
    if (result.stages[i].pipeline_rank == result.step.once_rank) {
      for (const AxisTimes* times : {&stage.reduced, &stage.reduced_bare, &stage.gathered,
                                     &stage.gathered_bare, &stage.around_update}) {
        sum += (*times)[Axis::kPipeline];
      }
    }
  }
  return sum;
}

// When the pipeline of the estimate ends, and what follows it.
struct Tail {
  Seconds start;
  AxisTimes once;
};

Tail tail_of(const Estimate& result, Seconds simulated) {
  Tail tail{Seconds(), once_a_step(result)};
  tail.once[Axis::kPipeline] = Seconds();
  const Seconds rest =
      result.step.step - result.step.update - result.step.beside - tail.once.total();
  tail.once[Axis::kPipeline] =
      std::clamp(rest - simulated, Seconds(), std::max(Seconds(), pipeline_once(result)));
  tail.start = rest - tail.once[Axis::kPipeline];
  return tail;
}

// Communication of a pass that nothing hides, after its compute; never beyond the pass.
void add_exposed(const PassCost& pass, Seconds start, Seconds end, timeline::LaneId lane,
                 Timeline& timeline) {
  Seconds at =
      std::max(start, std::min(start + pass.compute + pass.slowed, end - pass.exposed.total()));
  for (const auto& [axis, word] : kAxisWords) {
    const Seconds until = std::min(end, at + pass.exposed[axis]);
    if (pass.exposed[axis] > Seconds() && until > at) {
      timeline.add(
          lane, timeline.label({SpanKind::kCommunication, fmt::format("exposed {}", word), {}, {}}),
          at, until - at);
      at = until;
    }
  }
}

PassCost stretched(const PassCost& pass, double stretch) {
  PassCost made = pass;
  made.compute = pass.compute * stretch;
  made.slowed = pass.slowed * stretch;
  made.exposed = pass.exposed * stretch;
  return made;
}

// Two actions of one slot are drawn one after the other; a backward that is split exposes its
// messages in the part that the stage before waits for.
void add_all_exposed(const schedule::CompiledTable& table, const step::PipelineCostLists& costs,
                     const schedule::Workspace& run, const std::vector<StageCost>& stages,
                     double stretch, Timeline& timeline) {
  std::vector<Seconds> reached(static_cast<std::size_t>(table.ranks));
  for (std::size_t i = 0; i < table.steps.size(); ++i) {
    const schedule::Step& step = table.steps[i];
    const auto stage = static_cast<std::size_t>(step.action.stage);
    const bool forward = step.action.kind == ActionKind::kForward;
    const schedule::StageCosts& cost = costs.stages[stage];
    const Seconds length = forward                                          ? cost.forward
                           : step.action.kind == ActionKind::kBackward      ? cost.backward
                           : step.action.kind == ActionKind::kInputGradient ? cost.input_gradient
                                                                            : Seconds();
    const PassCost& pass = forward ? stages[stage].forward : stages[stage].backward;
    if (length <= Seconds() || pass.exposed.total() <= Seconds()) {
      continue;
    }
    const Seconds start = std::max(reached[step.rank], Seconds(run.starts[i]));
    const Seconds end = std::min(start + length, Seconds(run.ends[i + 1]));
    reached[step.rank] = end;
    add_exposed(stretched(pass, stretch), start, end,
                timeline.lane({static_cast<std::int64_t>(step.rank)}, kExposedStream,
                              "exposed communication"),
                timeline);
  }
}

void add_tail(const Estimate& result, const Tail& tail, std::int64_t ranks, Timeline& timeline) {
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const timeline::LaneId compute = timeline.lane({rank}, schedule::kComputeStream, "compute");
    Seconds at = tail.start;
    const auto add = [&](timeline::LaneId lane, SpanKind kind, std::string name, Seconds time) {
      if (time > Seconds()) {
        timeline.add(lane, timeline.label({kind, std::move(name), {}, {}}), at, time);
        at += time;
      }
    };
    for (const auto& [axis, word] : kAxisWords) {
      if (tail.once[axis] > Seconds()) {
        add(timeline.lane({rank}, kExposedStream, "exposed communication"),
            SpanKind::kCommunication, fmt::format("gradients and parameters ({})", word),
            tail.once[axis]);
      }
    }
    add(compute, SpanKind::kCompute, "update", result.step.update);
    // To the very end, whatever was rounded before.
    add(compute, SpanKind::kHost, "loop and uneven devices", result.step.step - at);
  }
}

Result<schedule::CompiledTable> table_of(const describe::Layout& layout, std::int64_t microbatches,
                                         std::size_t stages) {
  constexpr std::int64_t kMostPasses = 1'000'000;
  const std::int64_t passes =
      saturating_product({static_cast<std::int64_t>(stages), microbatches, 2});
  if (passes > kMostPasses) {
    return invalid(fmt::format("{} passes of microbatches through stages", with_thousands(passes)),
                   "‹timeline›",
                   fmt::format("at most {}: a smaller ‹gbs›", with_thousands(kMostPasses)));
  }
  auto table = schedule::action_table(schedule::shape_of(layout, microbatches));
  if (!table) {
    table.error().where = "‹timeline›";
    return tl::unexpected(table.error());
  }
  return schedule::compiled(*table);
}

}  // namespace

Result<Timeline> step_timeline(const Estimate& result, const describe::Layout& layout) {
  const std::vector<StageCost>& stages = result.step.stages;
  SEXTANT_TRY(const schedule::CompiledTable table,
              table_of(layout, result.microbatches, stages.size()));
  schedule::Workspace run;
  step::PipelineCostLists costs = step::pipeline_costs(stages);
  const Seconds simulated = schedule::simulate(table, costs.view(), run).makespan;
  const Tail tail = tail_of(result, simulated);
  const double stretch = simulated > Seconds() ? tail.start / simulated : 1.0;
  costs = step::pipeline_costs(stages, stretch);
  schedule::simulate(table, costs.view(), run);
  Timeline timeline = schedule::timeline_of(table, costs.view(), run);
  add_all_exposed(table, costs, run, stages, stretch, timeline);
  add_tail(result, tail, table.ranks, timeline);
  timeline.sort();
  return timeline;
}

}  // namespace sextant::step
