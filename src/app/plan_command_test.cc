// A search that is stopped, and layouts asked about.
#include "app/plan_command.h"

#include <atomic>

#include <gtest/gtest.h>

#include "app/plan_problem.h"
#include "app/plan_why_not.h"
#include "app/testing.h"

namespace sextant::app {
namespace {

class PlanCommand : public testing::Test {
 protected:
  PlanCommand() {
    context.settings["framework"] = {"megatron-core", "default"};
    request.job = {.model = "llama-3.1-8b",
                   .cluster = "8xh100-sxm",
                   .layout = "cp=1",
                   .framework = {},
                   .sequences = {},
                   .global_batch = "64",
                   .workload = {}};
    request.threads = "1";
    request.stop = &stop;
  }
  Context context;
  PlanRequest request;
  std::atomic<bool> stop = false;
};

TEST_F(PlanCommand, StoppedBeforeItBeginsItHasNothing) {
  stop = true;
  const auto output = told(plan(request, context));
  ASSERT_TRUE(output) << to_text(output.error());
  EXPECT_EQ(output->outcome, Outcome::kInterrupted);
  EXPECT_NE(output->text.find("stopped before a plan was found"), std::string::npos)
      << output->text;
}

TEST_F(PlanCommand, StoppedOnTheWayItAnswersWithTheBestSoFar) {
  request.progress = [this](const std::string&) { stop = true; };
  const auto output = told(plan(request, context));
  ASSERT_TRUE(output) << to_text(output.error());
  EXPECT_EQ(output->outcome, Outcome::kInterrupted);
  EXPECT_NE(output->text.find("stopped before the end: the best so far"), std::string::npos)
      << output->text;
  EXPECT_NE(output->text.find("what bounds it"), std::string::npos) << output->text;
}

// Flash attention that nobody states is what the libraries pick; on a V100 that is none.
TEST_F(PlanCommand, WhyNotCountsItsKeysAsStated) {
  request.job.cluster = "8xv100-sxm-32g";
  request.job.layout = "precision=fp16";
  const auto problem = plan_problem(request, *plan_wishes(request), context);
  ASSERT_TRUE(problem) << to_text(problem.error());
  EXPECT_TRUE(why_not(*problem, "tp=1", nullptr)->broken.empty());
  const auto asked = why_not(*problem, "tp=1,attention=flash", nullptr);
  ASSERT_TRUE(asked);
  ASSERT_EQ(asked->broken.size(), 1U);
  EXPECT_EQ(asked->broken[0].rule, "ATTENTION-DEVICE");
}

}  // namespace
}  // namespace sextant::app
