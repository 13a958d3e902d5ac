#include "search/find.h"

#include <cstdlib>
#include <limits>

#include <gtest/gtest.h>

#include "search/best_plans.h"
#include "search/proof.h"
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

// What the whole list of layouts says about the best of each mesh and about the front.
BestPlans tried_one_by_one(const Problem& problem, const FindOptions& options) {
  BestPlans best(options);
  Leaf leaf(problem);
  for (const describe::Layout& layout : EveryLayout(problem).list()) {
    if (leaf.fits(layout)) {
      const cost::RankMemory memory = leaf.memory(layout);
      best.add({layout, leaf.time(layout), memory.least, memory.device});
    }
  }
  return best;
}

TEST(Find, GivesTheBestOfEachMeshAndTheFront) {
  std::size_t several = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Problem problem = AnyProblem(seed).problem();
    const Space space(problem);
    for (const double within : {0.0, 0.2}) {
      const FindOptions options{.top = 4, .threads = 1, .front_within = within};
      const Found found = find_plans(space, options);
      const BestPlans all = tried_one_by_one(problem, options);
      ASSERT_EQ(found.plans.size(), all.plans().size()) << told(problem, seed);
      for (std::size_t i = 0; i < found.plans.size(); ++i) {
        EXPECT_EQ(found.plans[i].time.step, all.plans()[i].time.step) << told(problem, seed);
      }
      ASSERT_EQ(found.front.size(), all.front().size()) << told(problem, seed);
      for (std::size_t i = 0; i < found.front.size(); ++i) {
        EXPECT_EQ(found.front[i].time.step, all.front()[i].time.step) << told(problem, seed);
        EXPECT_EQ(found.front[i].least, all.front()[i].least) << told(problem, seed);
      }
      if (found.plans.size() > 1 && (within == 0.0 || found.front.size() > 1)) {
        ++several;
      }
    }
  }
  EXPECT_GT(several, 10U);
}

TEST(Find, IsTheSameOnAnyNumberOfThreads) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const Problem problem = AnyProblem(seed).problem();
    const Space space(problem);
    const Found one = find_plans(space, {.threads = 1});
    for (const unsigned threads : {2U, 5U}) {
      const Found other = find_plans(space, {.threads = threads});
      EXPECT_EQ(one.settled.timed, other.settled.timed) << told(problem, seed);
      EXPECT_EQ(one.settled.too_slow, other.settled.too_slow) << told(problem, seed);
      EXPECT_EQ(one.settled.too_large, other.settled.too_large) << told(problem, seed);
      EXPECT_EQ(one.calls.total(), other.calls.total()) << told(problem, seed);
      ASSERT_EQ(one.plans.size(), other.plans.size());
      for (std::size_t i = 0; i < one.plans.size(); ++i) {
        EXPECT_EQ(one.plans[i].layout, other.plans[i].layout) << told(problem, seed);
      }
    }
  }
}

TEST(Find, StopsWhenAsked) {
  const std::atomic<bool> stop = true;
  const Problem problem = AnyProblem(3).problem();
  const Found found = find_plans(Space(problem), {.threads = 2, .stop = &stop});
  EXPECT_FALSE(found.complete);
}

TEST(Find, IsProvedByTryingTheRest) {
  Problem problem = AnyProblem(0).problem();
  problem.headroom = 0.0;
  const Space space(problem);
  Found found = find_plans(space, {.threads = 1});
  ASSERT_FALSE(found.plans.empty());
  const Proof proof = prove(space, found);
  EXPECT_TRUE(proof.exhaustive);
  EXPECT_EQ(proof.checked, found.settled.possible);
  EXPECT_FALSE(proof.better.has_value());
  found.plans.front().time.step *= 2.0;
  EXPECT_TRUE(prove(space, found).better.has_value());
}

TEST(Space, HoldsWhatTheRulesAllowAndNothingElse) {
  int some = 0;
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Problem problem = AnyProblem(seed).problem();
    Space space(problem);
    const std::vector<describe::Layout> all = EveryLayout(problem).list();
    if (all.empty()) {
      continue;
    }
    ++some;
    for (std::size_t i = 0; i < all.size(); i += 17) {
      EXPECT_TRUE(space.holds(all[i])) << describe::to_text(all[i]);
    }
    describe::Layout other = all.front();
    other.mbs = 1024;
    EXPECT_FALSE(space.holds(other));
  }
  EXPECT_GT(some, 3);
}

}  // namespace
}  // namespace sextant::search
