#include "step/energy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "step/testing.h"

namespace sextant::step {
namespace {

using workload::random_job;

TEST(Energy, IsTheLimitWhileComputingAndAShareOfItWhileWaiting) {
  StepTerms step;
  step.step = 10_s;
  step.computing = 8_s;
  const machine::PowerDraw draw{700_W, 100_W};
  EXPECT_DOUBLE_EQ(device_energy(step, draw).base(), 8.0 * 700.0 + 2.0 * 100.0);
  EXPECT_DOUBLE_EQ(draw.computing_weight(), 6.0);
}

// The energy of a device is the search's value times what waiting draws.
TEST(Energy, OrdersStepsAsTheValueOfASearchDoes) {
  const machine::PowerDraw draw{700_W, 100_W};
  StepTerms step;
  step.step = 10_s;
  step.computing = 8_s;
  const Seconds value = step.step + step.computing * draw.computing_weight();
  EXPECT_DOUBLE_EQ(device_energy(step, draw).base(), (value * draw.waiting).base());
}

// No rank computes longer than the step lasts, and on one rank computing is compute and update.
RC_GTEST_PROP(Energy, ComputingIsPartOfTheStep, ()) {
  const describe::Job job = random_job();
  const StepEstimate estimate = estimate_step(job, any_machine());
  RC_ASSERT(estimate.computing > Seconds());
  RC_ASSERT(estimate.computing <= estimate.step * (1.0 + 1e-9));
  if (job.layout.pp == 1) {
    const Seconds all = estimate.compute - estimate.slowed + estimate.update;
    RC_ASSERT(std::abs(estimate.computing / all - 1.0) < 1e-9);
  }
}

}  // namespace
}  // namespace sextant::step
