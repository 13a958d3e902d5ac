#include "step/pipeline.h"

#include <algorithm>
#include <utility>

#include "schedule/closed_form.h"

namespace sextant::step {
namespace {

using describe::Schedule;
using schedule::PipelineCosts;
using schedule::ScheduleShape;

PipelineCosts without_messages(const PipelineCosts& costs) {
  PipelineCosts quiet = costs;
  quiet.forward_transfer = {};
  quiet.backward_transfer = {};
  return quiet;
}

Seconds one_f_one_b(const PipelineCosts& costs, std::int64_t microbatches,
                    std::vector<double>& scratch) {
  if (const auto exact = schedule::one_f_one_b_makespan(costs, microbatches, scratch)) {
    return *exact;
  }
  return schedule::one_f_one_b_bounds(costs, microbatches, scratch).upper;
}

bool is_interleaved(const ScheduleShape& shape) {
  return shape.schedule == Schedule::kInterleaved1f1b ||
         shape.schedule == Schedule::kInterleavedZeroBubble;
}

// Microbatches that pass through a chunk at once; elsewhere as many as there are ranks.
std::int64_t group_of(const ScheduleShape& shape) {
  if (!is_interleaved(shape)) {
    return shape.pp;
  }
  const std::int64_t rounds = std::max<std::int64_t>(1, shape.microbatches / shape.pp);
  return shape.group > 0 ? shape.group : std::max<std::int64_t>(1, shape.microbatches / rounds);
}

}  // namespace

bool PipelineClock::TableKey::operator==(const TableKey& other) const {
  return shape.schedule == other.shape.schedule && shape.pp == other.shape.pp &&
         shape.vpp == other.shape.vpp && shape.microbatches == other.shape.microbatches &&
         shape.group == other.shape.group && shape.pairs == other.shape.pairs &&
         group == other.group;
}

PipelineTable* PipelineClock::table(const ScheduleShape& shape, std::int64_t group) {
  const std::size_t hash = hash_of({static_cast<std::int64_t>(shape.schedule), shape.pp, shape.vpp,
                                    shape.microbatches, shape.group, shape.pairs ? 1 : 0, group});
  auto& made =
      tables_.get(hash, TableKey{shape, group}, [&] { return PipelineTable::of(shape, group); })
          .value;
  return made ? &*made : nullptr;
}

std::optional<PipelineSpan> PipelineClock::run(const PipelineCosts& costs,
                                               const ScheduleShape& shape) {
  const std::int64_t group = group_of(shape);
  const std::int64_t further = std::max<std::int64_t>(0, shape.microbatches / group - kGroups);
  ScheduleShape shorter = shape;
  shorter.microbatches -= further * group;
  PipelineTable* const first = table(shorter, group);
  if (first == nullptr) {
    return std::nullopt;
  }
  PipelineSpan span = first->span(costs);
  if (further == 0) {
    return span;
  }
  PipelineSpan each = first->last_group();
  const PipelineSpan busiest = first->busiest();
  if (!is_interleaved(shape)) {
    // Microbatches do not come back group by group: what one group less takes says it.
    shorter.microbatches -= group;
    PipelineTable* const second = table(shorter, group);
    if (second == nullptr) {
      return std::nullopt;
    }
    const PipelineSpan less = second->span(costs);
    each = {span.whole - less.whole, span.quiet - less.quiet};
  }
  const auto times = static_cast<double>(further);
  span.whole += std::max(each.whole, busiest.whole) * times;
  span.quiet += std::max(each.quiet, busiest.quiet) * times;
  return span;
}

std::optional<PipelineSpan> PipelineClock::span(const PipelineCosts& costs,
                                                const describe::Layout& layout,
                                                std::int64_t microbatches) {
  if (layout.schedule == Schedule::k1f1b) {
    return PipelineSpan{one_f_one_b(costs, microbatches, scratch_),
                        one_f_one_b(without_messages(costs), microbatches, scratch_)};
  }
  const ScheduleShape shape = schedule::shape_of(layout, microbatches);
  if (!schedule::check_shape(shape)) {
    return std::nullopt;
  }
  if (layout.schedule == Schedule::kGpipe) {
    return PipelineSpan{schedule::gpipe_makespan(costs, microbatches),
                        schedule::gpipe_makespan(without_messages(costs), microbatches)};
  }
  return run(costs, shape);
}

}  // namespace sextant::step
