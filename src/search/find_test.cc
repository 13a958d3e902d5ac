#include "search/find.h"

#include <cstdlib>
#include <limits>

#include <gtest/gtest.h>

#include "search/testing.h"

namespace sextant::search {
namespace {

// Times agree to this: nothing is rounded differently, so it is far below any difference there is.
constexpr double kSame = 1e-9;

std::string told(const Problem& problem, unsigned seed) {
  std::string text = "problem " + std::to_string(seed) + ", " + problem.job.model.name + " on " +
                     std::to_string(problem.job.cluster.devices) + ", framework " +
                     std::to_string(static_cast<int>(problem.job.framework)) + ", fixed";
  for (const std::string& key : problem.fixed) {
    text += " " + key;
  }
  return text;
}

// The search against each layout by itself: the same best time, the same number of layouts, and
// every layout accounted for.
void expect_exact(unsigned seed) {
  AnyProblem any(seed);
  const Problem problem = any.problem();
  SCOPED_TRACE(told(problem, seed));
  const std::vector<describe::Layout> all = EveryLayout(problem).list();
  Leaf leaf(problem);
  double best = std::numeric_limits<double>::infinity();
  std::string winner = "none";
  for (const describe::Layout& layout : all) {
    if (leaf.fits(layout)) {
      const double time = leaf.time(layout).step.base();
      if (time < best) {
        best = time;
        winner = describe::to_text(layout);
      }
    }
  }
  Space space(problem);
  EXPECT_EQ(space.count(), static_cast<double>(all.size()));
  const Found found = find_plans(space, {.top = 1, .threads = 1});
  const Settled& settled = found.settled;
  EXPECT_EQ(settled.possible, static_cast<double>(all.size()));
  EXPECT_EQ(settled.timed + settled.too_slow + settled.hides_less + settled.too_large,
            settled.possible);
  ASSERT_EQ(found.plans.empty(), best == std::numeric_limits<double>::infinity());
  if (!found.plans.empty()) {
    EXPECT_NEAR(found.plans.front().time.step.base(), best, best * kSame)
        << describe::to_text(found.plans.front().layout) << "\nagainst\n"
        << winner;
  }
}

// Others than usual: SEXTANT_SEED=1000.
unsigned offset() {
  const char* text = std::getenv("SEXTANT_SEED");  // NOLINT(concurrency-mt-unsafe): one thread
  return text == nullptr ? 0U : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

class ExactFind : public testing::TestWithParam<unsigned> {};

TEST_P(ExactFind, EqualsTryingEverything) {
  constexpr unsigned kEach = 30;
  for (unsigned i = 0; i < kEach; ++i) {
    expect_exact(GetParam() * kEach + i + offset());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ExactFind, testing::Range(0U, 10U));

}  // namespace
}  // namespace sextant::search
