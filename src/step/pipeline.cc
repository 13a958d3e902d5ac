#include "step/pipeline.h"

#include <algorithm>
#include <utility>

#include "schedule/closed_form.h"
#include "schedule/compile.h"
#include "schedule/generate.h"
#include "schedule/simulate.h"

namespace sextant::step {
namespace {

using schedule::PipelineCosts;
using schedule::StageCosts;
using schedule::TransferMode;

StageCosts costs_of(const StageCost& stage) {
  const Seconds backward = stage.backward.total();
  const Seconds weights = std::min(stage.weight_gradient, backward);
  return {stage.forward.total(), backward, backward - weights, weights, Seconds()};
}

// With 1F1B's closed form where it is exact, else by simulation of the compiled table.
struct Clock {
  const schedule::CompiledTable* table = nullptr;
  std::int64_t microbatches = 1;

  [[nodiscard]] Seconds time(const PipelineCosts& costs) const {
    std::vector<double> scratch;
    if (table == nullptr) {
      if (const auto exact = schedule::one_f_one_b_makespan(costs, microbatches, scratch)) {
        return *exact;
      }
      return schedule::one_f_one_b_bounds(costs, microbatches, scratch).upper;
    }
    return schedule::makespan(*table, costs);
  }
};

}  // namespace

std::optional<PipelineSpan> pipeline_span(const std::vector<StageCost>& stages,
                                          const describe::Layout& layout,
                                          std::int64_t microbatches) {
  std::vector<StageCosts> costs;
  std::vector<Seconds> forward;
  std::vector<Seconds> backward;
  bool hidden = true;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    costs.push_back(costs_of(stages[i]));
    hidden = hidden && stages[i].sends_hidden;
    if (i + 1 < stages.size()) {
      forward.push_back(stages[i].send_forward);
      backward.push_back(stages[i + 1].send_backward);
    }
  }
  const schedule::ScheduleShape shape = schedule::shape_of(layout, microbatches);
  Clock clock{nullptr, microbatches};
  std::optional<schedule::CompiledTable> compiled;
  if (layout.schedule != describe::Schedule::k1f1b) {
    const auto table = schedule::action_table(shape);
    if (!table) {
      return std::nullopt;
    }
    auto made = schedule::compiled(*table);
    if (!made) {
      return std::nullopt;
    }
    compiled = std::move(*made);
    clock.table = &*compiled;
  }
  PipelineCosts quiet;
  quiet.stages = costs;
  PipelineCosts whole = quiet;
  whole.forward_transfer = forward;
  whole.backward_transfer = backward;
  whole.transfers = hidden ? TransferMode::kOverlapped : TransferMode::kBlocking;
  return PipelineSpan{clock.time(whole), clock.time(quiet)};
}

}  // namespace sextant::step
