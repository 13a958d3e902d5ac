#include "search/find.h"

#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random_cases_testing.h"
#include "describe/layout/mesh.h"
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

// What is made small: the step, or the energy of devices that draw little while they wait.
constexpr std::array kWeights{0.0, 4.5};

struct Winner {
  double value = std::numeric_limits<double>::infinity();
  std::string words = "none";
};

void expect_found(const Space& space, double weight, double count, const Winner& best) {
  const Found found = find_plans(space, {.top = 1, .computing_weight = weight, .threads = 1});
  const Settled& settled = found.settled;
  EXPECT_EQ(settled.possible, count);
  EXPECT_EQ(settled.timed + settled.too_slow + settled.hides_less + settled.too_large,
            settled.possible);
  ASSERT_EQ(found.plans.empty(), best.words == "none");
  if (!found.plans.empty()) {
    EXPECT_NEAR(found.plans.front().value(weight).base(), best.value, best.value * kSame)
        << describe::to_text(found.plans.front().layout) << "\nagainst\n"
        << best.words;
  }
}

// The search against each layout by itself: the same best value, the same number of layouts, and
// every layout accounted for.
void expect_exact(const Problem& problem, unsigned seed) {
  SCOPED_TRACE(told(problem, seed));
  const std::vector<describe::Layout> all = EveryLayout(problem).list();
  Leaf leaf(problem);
  std::array<Winner, kWeights.size()> best;
  for (const describe::Layout& layout : all) {
    if (!leaf.fits(layout)) {
      continue;
    }
    const Plan plan{layout, leaf.time(layout), {}, {}};
    for (std::size_t i = 0; i < best.size(); ++i) {
      if (const double value = plan.value(kWeights[i]).base(); value < best[i].value) {
        best[i] = {value, describe::to_text(layout)};
      }
    }
  }
  Space space(problem);
  EXPECT_EQ(space.count(), static_cast<double>(all.size()));
  for (std::size_t i = 0; i < best.size(); ++i) {
    SCOPED_TRACE("computing weighs " + std::to_string(kWeights[i]));
    expect_found(space, kWeights[i], static_cast<double>(all.size()), best[i]);
  }
}

// A layout that was timed, without what it hides, and what it says of those that hide less.
struct Hiding {
  std::uint8_t bits = 0;
  step::StepTerms time;
  step::HidingLess less;
};

// Neither bound may be above what it is of, each by itself: what is made small is both, in any
// proportion. Returns how many pairs of layouts were held against each other.
std::size_t expect_less_is_not_below(const std::vector<Hiding>& layouts) {
  std::size_t pairs = 0;
  for (const Hiding& one : layouts) {
    for (const Hiding& other : layouts) {
      if (other.bits != one.bits && (other.bits & ~one.bits) == 0) {
        ++pairs;
        EXPECT_GE(other.time.step.base() * (1.0 + kSame), one.less.step.base());
        EXPECT_GE(other.time.computing.base() * (1.0 + kSame), one.less.computing.base());
      }
    }
  }
  return pairs;
}

// Of all layouts of a problem that differ in nothing but what they hide.
std::size_t expect_less_is_not_below(const Problem& problem) {
  std::map<std::string, std::vector<Hiding>> alike;
  Leaf leaf(problem);
  for (describe::Layout layout : EveryLayout(problem).list()) {
    const std::uint8_t bits = bits_of(layout.overlap);
    const step::StepTerms time = leaf.time(layout);
    layout.overlap.clear();
    alike[describe::to_text(layout)].push_back({bits, time, leaf.hiding_less()});
  }
  std::size_t pairs = 0;
  for (const auto& [words, layouts] : alike) {
    SCOPED_TRACE(words);
    pairs += expect_less_is_not_below(layouts);
  }
  return pairs;
}

// Others than usual: SEXTANT_SEED=1000.
unsigned offset() {
  const char* text = std::getenv("SEXTANT_SEED");  // NOLINT(concurrency-mt-unsafe): one thread
  return text == nullptr ? 0U : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

class ExactFind : public testing::TestWithParam<unsigned> {};

TEST_P(ExactFind, EqualsTryingEverything) {
  const unsigned each = random_cases(30);
  for (unsigned i = 0; i < each; ++i) {
    const unsigned seed = GetParam() * each + i + offset();
    expect_exact(AnyProblem(seed).problem(), seed);
  }
}

TEST_P(ExactFind, EqualsTryingEveryMeshOfSeveralSlices) {
  const unsigned each = random_cases(20);
  for (unsigned i = 0; i < each; ++i) {
    const unsigned seed = GetParam() * each + i + offset();
    expect_exact(AnyProblem(seed).problem_on_slices(), seed);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ExactFind, testing::Range(0U, 10U));

// What the whole list of layouts says about the best of each idea and about the front, for each of
// these options.
std::vector<BestPlans> tried_one_by_one(const Problem& problem,
                                        std::span<const FindOptions> options) {
  std::vector<BestPlans> best(options.begin(), options.end());
  Leaf leaf(problem);
  for (const describe::Layout& layout : EveryLayout(problem).list()) {
    if (leaf.fits(layout)) {
      const cost::RankMemory memory = leaf.memory(layout);
      const Plan plan{layout, leaf.time(layout), memory.least, memory.device};
      for (BestPlans& one : best) {
        one.add(plan);
      }
    }
  }
  return best;
}

void expect_same_plans(const Found& found, const BestPlans& all) {
  ASSERT_EQ(found.plans.size(), all.plans().size());
  for (std::size_t i = 0; i < found.plans.size(); ++i) {
    EXPECT_EQ(found.plans[i].time.step, all.plans()[i].time.step);
  }
  ASSERT_EQ(found.front.size(), all.front().size());
  for (std::size_t i = 0; i < found.front.size(); ++i) {
    EXPECT_EQ(found.front[i].time.step, all.front()[i].time.step);
    EXPECT_EQ(found.front[i].least, all.front()[i].least);
  }
}

// Which layouts there are does not depend on whose were listed first.
TEST(Find, HidesTensorParallelismInsideTheDomainOnly) {
  const Problem problem = AnyProblem::small_domains();
  expect_exact(problem, 0);
  std::map<std::int64_t, std::size_t> overlapping;  // layouts by tp
  for (const describe::Layout& layout : EveryLayout(problem).list()) {
    overlapping[layout.tp] += layout.overlaps(describe::Overlap::kTensorParallel) ? 1 : 0;
  }
  EXPECT_GT(overlapping[2], 0U);
  EXPECT_EQ(overlapping[4] + overlapping[8], 0U);
}

// What a search leaves out by what hides more: named by itself, as a whole search finds a bound
// that is too high only where it cuts off the best.
TEST(Find, HidingLessIsNeverBelowItsBound) {
  const unsigned problems = random_cases(40);
  std::size_t pairs = 0;
  for (unsigned i = 0; i < problems; ++i) {
    const unsigned seed = i + offset();
    const Problem problem = AnyProblem(seed).problem();
    SCOPED_TRACE(told(problem, seed));
    pairs += expect_less_is_not_below(problem);
  }
  EXPECT_GT(pairs, problems);
}

// DeepSeek-V2-Lite on twelve devices under Megatron.
Problem experts_on_twelve(std::size_t layers, std::int64_t length, std::int64_t domain,
                          double headroom) {
  const describe::DataStore data;
  Problem problem = AnyProblem::small_domains();
  describe::Job& job = problem.job;
  job.model = *describe::load_model("deepseek-v2-lite-16b", data);
  job.model.layers.resize(layers);
  job.cluster.devices = 12;
  job.cluster.system.domain_size.value = domain;
  job.global_batch = 12;
  job.sequences.length = length;
  problem.machine.domain_size = domain;
  problem.headroom = headroom;
  return problem;
}

// Three pipeline ranks whose updates are of very different lengths: who hides nothing of what is
// sent once a step ends with another rank than who hides all, and computes less by the difference
// of their updates. Twice a search found a plan above the best, by 1.2 % and 1.6 %.
TEST(Find, AnotherRankMayBeThroughLastWhereLessIsHidden) {
  Problem six = experts_on_twelve(6, 2048, 8, 0.5);
  six.fixed = {"vpp", "etp", "tp", "zero", "order", "mbs", "cp_method", "sp", "recompute"};
  expect_exact(six, 0);
  Problem four = experts_on_twelve(4, 1024, 4, 0.8);
  four.fixed = {"mbs", "schedule", "vpp", "cp", "recompute", "tp", "sp", "order", "etp"};
  expect_exact(four, 1);
  for (const Problem& problem : {six, four}) {
    EXPECT_GT(expect_less_is_not_below(problem), 0U);
  }
}

TEST(Find, GivesTheBestOfEachIdeaAndTheFront) {
  const std::array<FindOptions, 2> options{
      FindOptions{.top = 4, .threads = 1, .front_within = 0.0},
      FindOptions{.top = 4, .threads = 1, .front_within = 0.2}};
  std::size_t several = 0;
  for (unsigned seed = 10; seed < 20; ++seed) {
    const Problem problem = AnyProblem(seed).problem();
    const Space space(problem);
    const std::vector<BestPlans> all = tried_one_by_one(problem, options);
    for (std::size_t i = 0; i < options.size(); ++i) {
      SCOPED_TRACE(told(problem, seed));
      const Found found = find_plans(space, options[i]);
      expect_same_plans(found, all[i]);
      const bool has_front = options[i].front_within == 0.0 || found.front.size() > 1;
      several += found.plans.size() > 1 && has_front ? 1 : 0;
    }
  }
  EXPECT_GT(several, 5U);
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

// The problems above try what they are meant to: every axis is outermost somewhere, and the usual
// order does not always win.
TEST(Find, OnSeveralSlicesOrdersDecide) {
  std::map<describe::Axis, int> tried;
  std::map<describe::Axis, int> won;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const Problem problem = AnyProblem(seed).problem_on_slices();
    std::set<describe::Axis> outermost;
    for (const describe::Layout& layout : EveryLayout(problem).list()) {
      outermost.insert(layout.order.back());
    }
    for (const describe::Axis axis : outermost) {
      ++tried[axis];
    }
    const Found found = find_plans(Space(problem), {.top = 1, .threads = 1});
    if (!found.plans.empty()) {
      ++won[found.plans.front().layout.order.back()];
    }
  }
  for (const describe::Axis axis :
       {describe::Axis::kPp, describe::Axis::kDp, describe::Axis::kEp, describe::Axis::kCp}) {
    EXPECT_GT(tried[axis], 10) << static_cast<int>(axis);
    RecordProperty("won_" + std::to_string(static_cast<int>(axis)), won[axis]);
  }
  EXPECT_GT(won[describe::Axis::kDp] + won[describe::Axis::kEp] + won[describe::Axis::kCp], 5);
}

// The meshes of a small problem by hand.
class OnTwoSlices : public testing::Test {
 protected:
  OnTwoSlices() {
    problem.job.layout.zero = describe::Zero::kParameters;
    problem.fixed = {"tp", "mbs", "vpp", "etp", "recompute"};
    problem.headroom = 0.0;
  }
  std::set<std::string> meshes(std::int64_t cp, std::int64_t pp, std::int64_t ep) {
    std::set<std::string> found;
    for (const describe::Layout& layout : EveryLayout(problem).list()) {
      if (layout.cp == cp && layout.pp == pp && layout.ep == ep) {
        EXPECT_TRUE(Space(problem).holds(layout)) << describe::to_text(layout);
        describe::Job job = problem.job;
        job.layout = layout;
        found.insert(describe::to_text(describe::mesh_of(job)));
      }
    }
    return found;
  }
  Problem problem = AnyProblem::two_slices();
};

TEST_F(OnTwoSlices, EveryAxisCrossesThemOnce) {
  using Meshes = std::set<std::string>;
  EXPECT_EQ(meshes(1, 1, 1), (Meshes{"ici:fsdp=4;dcn:fsdp=2", "ici:fsdp=4;dcn:data=2"}));
  EXPECT_EQ(meshes(1, 2, 1),
            (Meshes{"ici:fsdp=4;dcn:pipeline=2", "ici:fsdp=2,pipeline=2;dcn:fsdp=2",
                    "ici:fsdp=2,pipeline=2;dcn:data=2"}));
  EXPECT_EQ(meshes(2, 1, 1),
            (Meshes{"ici:fsdp=2,sequence=2;dcn:fsdp=2", "ici:fsdp=2,sequence=2;dcn:data=2",
                    "ici:fsdp=4;dcn:sequence=2"}));
  EXPECT_EQ(meshes(1, 1, 2), (Meshes{"ici:fsdp=2,expert=2;dcn:fsdp=2",
                                     "ici:fsdp=2,expert=2;dcn:data=2", "ici:fsdp=4;dcn:expert=2"}));
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

TEST(Find, ProgressEndsWithAllThereAre) {
  const Problem problem = AnyProblem(3).problem();
  Progress last;
  std::size_t told = 0;
  FindOptions options{.top = 1, .threads = 2};
  options.progress = [&](const Progress& progress) {
    EXPECT_GE(progress.settled, last.settled);
    last = progress;
    ++told;
  };
  const Found found = find_plans(Space(problem), options);
  EXPECT_GT(told, 0U);
  EXPECT_EQ(last.settled, last.possible);
  EXPECT_EQ(last.possible, found.settled.possible);
}

}  // namespace
}  // namespace sextant::search
