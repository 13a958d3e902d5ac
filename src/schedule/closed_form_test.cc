#include "schedule/closed_form.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "schedule/testing.h"

namespace sextant::schedule {
namespace {

using describe::Schedule;

Seconds simulated(const ScheduleShape& shape, const OwnedCosts& costs) {
  return makespan(compiled_table(shape), costs.view());
}

// (p − 1) / m of the ideal time is the bubble of 1F1B and GPipe: (m + p − 1) · 3 s.
TEST(ClosedForm, PublishedBubbles) {
  const EqualStages costs{split_costs(1_s, 1_s, 1_s), {}, {}};
  const auto seconds = [&](const ScheduleShape& shape) {
    return equal_stage_makespan(shape, costs).value_or(Seconds()) / 1_s;
  };
  EXPECT_DOUBLE_EQ(seconds({Schedule::kGpipe, 4, 1, 8}), 33.0);
  EXPECT_DOUBLE_EQ(seconds({Schedule::k1f1b, 4, 1, 8}), 33.0);
  // Interleaving divides the bubble by vpp: chunks of 1 s here, so 8 · 2 chunks and 3 to fill.
  EXPECT_DOUBLE_EQ(seconds({Schedule::kInterleaved1f1b, 4, 2, 8}), 57.0);
  EXPECT_DOUBLE_EQ(seconds({Schedule::kInterleavedZeroBubble, 4, 2, 8}), 51.0);
  EXPECT_DOUBLE_EQ(seconds({Schedule::kZbv, 4, 2, 8}), 51.0);
  // DualPipe's (PP/2 − 1)·(F&B + B − 3W), arXiv:2412.19437 table 2, with F&B = 3 and B = 2.
  EXPECT_DOUBLE_EQ(seconds({Schedule::kDualPipe, 4, 1, 8}), 26.0);
}

TEST(ClosedForm, SaysNothingWhereItKnowsNothing) {
  const EqualStages uneven{split_costs(1_s, 2_s, 1_s), {}, {}};
  EXPECT_FALSE(equal_stage_makespan({Schedule::kZbv, 4, 2, 8}, uneven));
  EXPECT_FALSE(equal_stage_makespan({Schedule::kDualPipeV, 4, 2, 8}, uneven));
  const EqualStages slow{split_costs(1_s, 1_s, 1_s), 5_s, {}};
  EXPECT_FALSE(equal_stage_makespan({Schedule::kInterleaved1f1b, 4, 2, 8}, slow));
  EXPECT_FALSE(equal_stage_makespan({Schedule::kInterleavedZeroBubble, 4, 2, 8}, slow));
  EXPECT_FALSE(equal_stage_makespan({Schedule::kDualPipe, 3, 1, 8}, {}));
}

RC_GTEST_PROP(ClosedFormLaws, EqualStagesAreThoseOfTheSimulation, ()) {
  const ScheduleShape shape = random_shape();
  EqualStages equal{random_stage(), random_time(), random_time()};
  if (*rc::gen::arbitrary<bool>()) {
    equal.forward_transfer = equal.backward_transfer = Seconds();
  }
  if (*rc::gen::arbitrary<bool>()) {
    const Seconds unit = random_time();
    equal.stage = split_costs(unit, unit, unit);
  }
  const auto formula = equal_stage_makespan(shape, equal);
  RC_CLASSIFY(formula.has_value());
  RC_PRE(formula.has_value());
  const OwnedCosts costs = equal_costs(shape.pp * shape.vpp, equal.stage, equal.forward_transfer,
                                       equal.backward_transfer);
  RC_ASSERT(near(formula.value_or(Seconds()), simulated(shape, costs)));
}

RC_GTEST_PROP(ClosedFormLaws, GpipeWithAnyStagesIsExact, ()) {
  const ScheduleShape shape = random_shape(Schedule::kGpipe);
  const OwnedCosts costs = random_costs(shape.pp);
  RC_ASSERT(near(gpipe_makespan(costs.view(), shape.microbatches), simulated(shape, costs)));
}

RC_GTEST_PROP(ClosedFormLaws, OneForwardOneBackwardWithAnyStagesIsExact, ()) {
  const ScheduleShape shape = random_shape(Schedule::k1f1b);
  OwnedCosts costs = random_costs(shape.pp);
  if (costs.transfers == TransferMode::kOverlapped) {
    costs.forward_transfer.clear();
    costs.backward_transfer.clear();
  }
  std::vector<double> scratch;
  const auto formula = one_f_one_b_makespan(costs.view(), shape.microbatches, scratch);
  RC_ASSERT(formula.has_value());
  RC_ASSERT(near(formula.value_or(Seconds()), simulated(shape, costs)));
}

RC_GTEST_PROP(ClosedFormLaws, OverlappedTransfersLieBetweenTheBounds, ()) {
  const ScheduleShape shape = random_shape(Schedule::k1f1b);
  OwnedCosts costs = random_costs(shape.pp);
  costs.transfers = TransferMode::kOverlapped;
  std::vector<double> scratch;
  const MakespanBounds bounds = one_f_one_b_bounds(costs.view(), shape.microbatches, scratch);
  const Seconds time = simulated(shape, costs);
  RC_ASSERT(bounds.lower <= time + 1_ns);
  RC_ASSERT(time <= bounds.upper + 1_ns);
}

// ⌈(m − 1) / pp⌉ + 1 transfers each way, for equal stages.
RC_GTEST_PROP(ClosedFormLaws, TheUpperBoundIsCloseForEqualStages, ()) {
  const ScheduleShape shape = random_shape(Schedule::k1f1b);
  const Seconds forward = random_time();
  const Seconds backward = random_time();
  const OwnedCosts costs = equal_costs(shape.pp, random_stage(), forward, backward);
  std::vector<double> scratch;
  const MakespanBounds bounds = one_f_one_b_bounds(costs.view(), shape.microbatches, scratch);
  const std::int64_t hops = (shape.microbatches - 1 + shape.pp - 1) / shape.pp + 1;
  RC_ASSERT(bounds.upper - simulated(shape, costs) <=
            static_cast<double>(hops) * (forward + backward) + 1_ns);
}

RC_GTEST_PROP(ClosedFormLaws, TheInterleavedBoundIsNeverAboveTheSimulation, ()) {
  ScheduleShape shape = random_shape(Schedule::kInterleaved1f1b);
  shape.pp = std::max<std::int64_t>(shape.pp, 2);
  shape.microbatches *= shape.pp;
  const OwnedCosts costs = random_costs(shape.pp * shape.vpp);
  RC_ASSERT(interleaved_lower_bound(shape, costs.view()) <= simulated(shape, costs) + 1_ns);
}

RC_GTEST_PROP(ClosedFormLaws, TheInterleavedBoundIsExactForEqualStages, ()) {
  ScheduleShape shape = random_shape(Schedule::kInterleaved1f1b);
  shape.microbatches *= shape.pp;
  const OwnedCosts costs = equal_costs(shape.pp * shape.vpp, random_stage());
  RC_ASSERT(near(interleaved_lower_bound(shape, costs.view()), simulated(shape, costs)));
}

}  // namespace
}  // namespace sextant::schedule
