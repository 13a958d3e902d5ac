#include "schedule/simulate.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace sextant::schedule {
namespace {

using describe::Schedule;

TEST(Simulation, OneStageTakesItsWork) {
  const CompiledTable table = compiled_table({Schedule::k1f1b, 1, 1, 5});
  const OwnedCosts costs = equal_costs(1, split_costs(1_s, 1.5_s, 0.5_s));
  Workspace work;
  const PipelineTime time = simulate(table, costs.view(), work);
  EXPECT_DOUBLE_EQ(time.makespan / 1_s, 15.0);  // 5 · (1 + 2)
  EXPECT_DOUBLE_EQ(time.bubble_share(), 0.0);
}

TEST(Simulation, ZeroCostsTakeNoTime) {
  const OwnedCosts costs = equal_costs(8, {});
  EXPECT_EQ(makespan(compiled_table({Schedule::kZbv, 4, 2, 8}), costs.view()), Seconds());
  Workspace work;
  EXPECT_EQ(simulate(compiled_table({Schedule::kZbv, 4, 2, 8}), costs.view(), work).bubble_share(),
            0.0);
}

TEST(Simulation, BubbleShareOf1f1bIsThatOfTheFormula) {
  const OwnedCosts costs = equal_costs(4, split_costs(1_s, 1_s, 1_s));
  Workspace work;
  const PipelineTime time =
      simulate(compiled_table({Schedule::k1f1b, 4, 1, 8}), costs.view(), work);
  EXPECT_DOUBLE_EQ(time.makespan / 1_s, 33.0);        // (8 + 4 − 1) · 3
  EXPECT_DOUBLE_EQ(time.bubble_share(), 3.0 / 11.0);  // (p − 1) / (m + p − 1)
  EXPECT_DOUBLE_EQ(time.ranks[2].idle / 1_s, 33.0 - 24.0);
}

// Two stages, one microbatch: F 1, transfer 0.25, F 1, B 2, transfer 0.5, B 2.
TEST(Simulation, TransfersDelayTheReceiver) {
  const CompiledTable table = compiled_table({Schedule::k1f1b, 2, 1, 1});
  OwnedCosts costs = equal_costs(2, split_costs(1_s, 1_s, 1_s), 0.25_s, 0.5_s);
  Workspace work;
  EXPECT_DOUBLE_EQ(simulate(table, costs.view(), work).makespan / 1_s, 6.75);
  costs.transfers = TransferMode::kBlocking;
  const PipelineTime held = simulate(table, costs.view(), work);
  EXPECT_DOUBLE_EQ(held.makespan / 1_s, 6.75);
  EXPECT_DOUBLE_EQ(held.ranks[0].sending / 1_s, 0.25);
  EXPECT_DOUBLE_EQ(held.ranks[1].sending / 1_s, 0.5);
}

TEST(Simulation, TheTurnOfAFoldSendsNothing) {
  // Stages 1 and 2 of two ranks are both on rank 1: of three hops each way two cost.
  const CompiledTable table = compiled_table({Schedule::kZbv, 2, 2, 1});
  const OwnedCosts costs = equal_costs(4, {}, 1_s, 10_s);
  EXPECT_DOUBLE_EQ(makespan(table, costs.view()) / 1_s, 22.0);
}

TEST(Simulation, ASharedSlotTakesAtLeastTheLonger) {
  // One stage, two microbatches: F0, then F1 with B0, then B1.
  const ActionTable table{
      1, 2, {{{kF, false, 0, 0}, {kF, true, 0, 1}, {kB, false, 0, 0}, {kB, false, 0, 1}}}};
  OwnedCosts costs = equal_costs(1, split_costs(1_s, 1_s, 2_s));
  const auto with = [&](double overlap) {
    costs.overlap = overlap;
    return makespan(*compiled(table), costs.view()) / 1_s;
  };
  EXPECT_DOUBLE_EQ(with(1.0), 8.0);  // 1 + (1 + 3) + 3
  EXPECT_DOUBLE_EQ(with(0.8), 7.2);  // 1 + 0.8 · 4 + 3
  EXPECT_DOUBLE_EQ(with(0.0), 7.0);  // 1 + 3 + 3
}

TEST(Simulation, MicrobatchesMayDiffer) {
  OwnedCosts costs = equal_costs(1, split_costs(1_s, 1_s, 0_s));
  costs.scale = {1.0, 3.0};
  EXPECT_DOUBLE_EQ(makespan(compiled_table({Schedule::kGpipe, 1, 1, 2}), costs.view()) / 1_s, 8.0);
}

TEST(Simulation, AReductionRunsWhereTheTableHasIt) {
  const ActionTable table{
      1, 1, {{{kF, false, 0, 0}, {kB, false, 0, 0}, {ActionKind::kReduceGradient, false, 0, 0}}}};
  OwnedCosts costs = equal_costs(1, {1_s, 2_s, {}, {}, 4_s});
  EXPECT_DOUBLE_EQ(makespan(*compiled(table), costs.view()) / 1_s, 7.0);
}

}  // namespace
}  // namespace sextant::schedule
