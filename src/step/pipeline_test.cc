#include "step/pipeline.h"

#include <optional>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "schedule/compile.h"
#include "schedule/testing.h"

namespace sextant::step {
namespace {

using describe::Schedule;
using schedule::near;
using schedule::OwnedCosts;
using schedule::ScheduleShape;

// By the simulation that lists every action.
PipelineSpan simulated(const ScheduleShape& shape, const OwnedCosts& costs) {
  const auto table = *schedule::compiled(*schedule::action_table(shape));
  OwnedCosts quiet = costs;
  quiet.forward_transfer.clear();
  quiet.backward_transfer.clear();
  return {schedule::makespan(table, costs.view()), schedule::makespan(table, quiet.view())};
}

describe::Layout layout_of(const ScheduleShape& shape) {
  describe::Layout layout;
  layout.schedule = shape.schedule;
  layout.pp = shape.pp;
  layout.vpp = shape.vpp;
  return layout;
}

// A time that no pipeline takes where there is no answer.
PipelineSpan answered(const std::optional<PipelineSpan>& span) {
  return span.value_or(PipelineSpan{-1_s, -1_s});
}

OwnedCosts costs_for(const ScheduleShape& shape) {
  OwnedCosts costs = schedule::random_costs(shape.pp * shape.vpp);
  costs.overlap = 1.0;
  return costs;
}

RC_GTEST_PROP(PipelineTable, RunsAsTheSimulationDoes, ()) {
  const ScheduleShape shape = schedule::random_shape(*rc::gen::element(
      Schedule::kGpipe, Schedule::k1f1b, Schedule::kInterleaved1f1b, Schedule::kLoopedBfs,
      Schedule::kInterleavedZeroBubble, Schedule::kZbv, Schedule::kDualPipe, Schedule::kDualPipeV));
  const OwnedCosts costs = costs_for(shape);
  auto table = PipelineTable::of(shape, shape.pp);
  const PipelineSpan span =
      answered(table ? std::optional(table->span(costs.view())) : std::nullopt);
  const PipelineSpan exact = simulated(shape, costs);
  RC_ASSERT(near(span.whole, exact.whole));
  RC_ASSERT(near(span.quiet, exact.quiet));
}

RC_GTEST_PROP(PipelineClock, IsExactWhereFewGroupsPass, ()) {
  ScheduleShape shape = schedule::random_shape(*rc::gen::element(
      Schedule::kGpipe, Schedule::kInterleaved1f1b, Schedule::kInterleavedZeroBubble));
  RC_PRE(shape.microbatches <= PipelineClock::kGroups * shape.pp);
  const OwnedCosts costs = costs_for(shape);
  PipelineClock clock;
  const PipelineSpan span =
      answered(clock.span(costs.view(), layout_of(shape), shape.microbatches));
  const PipelineSpan exact = simulated(shape, costs);
  RC_ASSERT(near(span.whole, exact.whole));
  RC_ASSERT(near(span.quiet, exact.quiet));
}

// Stages within ±10 % of one another, the last up to twice as slow: what models are like.
OwnedCosts plausible_costs(std::int64_t stages) {
  OwnedCosts costs;
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    const double longer = stage == stages - 1 ? *rc::gen::inRange(100, 200) / 100.0
                                              : *rc::gen::inRange(90, 110) / 100.0;
    costs.stages.push_back(schedule::split_costs(longer * 1_ms, longer * 1_ms, longer * 1_ms));
    if (stage > 0) {
      costs.forward_transfer.push_back(0.05_ms);
      costs.backward_transfer.push_back(0.05_ms);
    }
  }
  costs.transfers =
      *rc::gen::element(schedule::TransferMode::kOverlapped, schedule::TransferMode::kBlocking);
  return costs;
}

RC_GTEST_PROP(PipelineClock, LongStepsAreWithinTwoPercent, ()) {
  const std::int64_t pp = *rc::gen::inRange<std::int64_t>(2, 9);
  ScheduleShape shape{.schedule = Schedule::kInterleaved1f1b,
                      .pp = pp,
                      .vpp = *rc::gen::inRange<std::int64_t>(2, 5),
                      .microbatches = pp * *rc::gen::inRange<std::int64_t>(5, 13)};
  const OwnedCosts costs = plausible_costs(shape.pp * shape.vpp);
  PipelineClock clock;
  const PipelineSpan span =
      answered(clock.span(costs.view(), layout_of(shape), shape.microbatches));
  const PipelineSpan exact = simulated(shape, costs);
  RC_ASSERT(std::abs(span.whole / exact.whole - 1.0) < 0.02);
  RC_ASSERT(std::abs(span.quiet / exact.quiet - 1.0) < 0.02);
}

// (m·vpp + pp − 1)·(f + b): every further group adds the same.
TEST(PipelineClock, EqualStagesAreExactHoweverLongTheStep) {
  const OwnedCosts costs = schedule::equal_costs(16, schedule::split_costs(1_ms, 1_ms, 1_ms));
  describe::Layout layout;
  layout.schedule = Schedule::kInterleaved1f1b;
  layout.pp = 8;
  layout.vpp = 2;
  PipelineClock clock;
  const PipelineSpan span = answered(clock.span(costs.view(), layout, 800));
  EXPECT_NEAR(span.quiet / 1_ms, (800.0 * 2.0 + 7.0) * 3.0, 1e-6);
}

TEST(PipelineClock, SaysNothingWhereTheScheduleCannotRun) {
  const OwnedCosts costs = schedule::equal_costs(8, schedule::split_costs(1_ms, 1_ms, 1_ms));
  describe::Layout layout;
  layout.schedule = Schedule::kInterleaved1f1b;
  layout.pp = 4;
  layout.vpp = 2;
  PipelineClock clock;
  EXPECT_FALSE(clock.span(costs.view(), layout, 9).has_value());
}

}  // namespace
}  // namespace sextant::step
