// What is recommended for jobs that people train: pipelines that they would set up.
#include <gtest/gtest.h>

#include "base/random_cases_testing.h"
#include "plan_scenarios.h"
#include "recommended_scenario.h"

namespace sextant {
namespace {

// Of the jobs of docs/planning.md a few, in `./test long` all of them: the page says it of all.
TEST(RecommendedScenarios, AnOddPipelineGainsMoreThanMayBeGivenUp) {
  const app::Context context;
  const auto spreads = describe::difference_spreads(context.data);
  ASSERT_TRUE(spreads);
  const std::vector<tests::Scenario> all = tests::plan_scenarios();
  const bool every = random_cases(1) > 1;
  const std::size_t stride = every ? 1 : 15;
  std::size_t asked = 0;
  for (std::size_t i = every ? 0 : 2; i < all.size(); i += stride) {
    SCOPED_TRACE(all[i].model + " on " + all[i].cluster);
    const auto problem = tests::problem_of(all[i], context);
    ASSERT_TRUE(problem) << to_text(problem.error());
    const auto answer = tests::recommended_scenario(*problem, *spreads);
    if (!answer) {
      continue;
    }
    ++asked;
    EXPECT_LE(answer->recommended.time.step.base(),
              answer->fastest.time.step.base() * (1.0 + search::kMostGivenUp) * (1.0 + 1e-9));
    if (answer->plain) {
      EXPECT_GT(answer->plain->time.step.base(),
                answer->fastest.time.step.base() * (1.0 + search::most_given_up(*spreads)))
          << describe::to_text(answer->recommended.layout) << " against "
          << describe::to_text(answer->plain->layout);
    }
  }
  EXPECT_GT(asked, 1U);
}

}  // namespace
}  // namespace sextant
