#include "profile/step_name.h"

#include <gtest/gtest.h>

namespace sextant::profile {
namespace {

TEST(StepName, IsAStepWordWithOrWithoutANumber) {
  EXPECT_EQ(step_name("iteration 12"), (StepName{"iteration #", 12}));
  EXPECT_EQ(step_name("ProfilerStep#7"), (StepName{"profilerstep##", 7}));
  EXPECT_EQ(step_name("train_step"), (StepName{"train_step", std::nullopt}));
  EXPECT_EQ(step_name(" step(3) "), (StepName{"step(#)", 3}));
  EXPECT_EQ(step_name("iter=5"), (StepName{"iter=#", 5}));
}

TEST(StepName, NumbersOfOneLoopMakeOneRow) {
  EXPECT_EQ(step_name("Epoch 1, batch 30/500"), (StepName{"epoch #, batch #/#", 30}));
  EXPECT_EQ(step_name("Epoch 2, batch 7/500"), (StepName{"epoch #, batch #/#", 7}));
}

TEST(StepName, PartsOfAStepAreNone) {
  for (const char* part : {"forward_step", "optimizer.step 3", "eval step 4", "micro batch 2",
                           "backward-step", "lr scheduler step", "get batch 1"}) {
    EXPECT_FALSE(step_name(part)) << part;
  }
}

TEST(StepName, OtherNamesAreNone) {
  for (const char* other : {"", "aten::add", "stepping", "layer 7", "12", "step by hand", "/3"}) {
    EXPECT_FALSE(step_name(other)) << other;
  }
  EXPECT_FALSE(step_name(std::string(200, 's') + " step 1"));
  EXPECT_EQ(step_name("step 99999999999999999999"), (StepName{"step #", std::nullopt}));
}

}  // namespace
}  // namespace sextant::profile
