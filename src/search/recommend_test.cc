#include "search/recommend.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random_cases_testing.h"
#include "search/testing.h"

namespace sextant::search {
namespace {

using describe::DifferenceSpreads;
using describe::Layout;

DifferenceSpreads built_in_spreads() {
  return *describe::difference_spreads(describe::DataStore());
}

Layout read_of(const std::string& text) {
  return describe::parse_layout(text, describe::Framework::kMegatronCore)->layout;
}

// Megatron on 64 H100s; of nothing but the words that are given.
class SimplicityOf : public testing::Test {
 protected:
  SimplicityOf() {
    const describe::DataStore data;
    problem.job.model = *describe::load_model("llama-3.1-70b", data);
    problem.job.cluster = *describe::load_cluster("64xh100-sxm", data);
    problem.job.global_batch = 256;
    describe::fill_defaults(problem.job.layout, {}, problem.job.framework);
  }
  Burdens of(const std::string& text, Bytes device = Bytes()) {
    return Simplicity(choices_of(problem), problem.job, built_in_spreads())
        .of(read_of(text), device);
  }
  int points(const std::string& text) { return of(text).total(); }
  Problem problem;
};

TEST_F(SimplicityOf, OneDeviceOfEverythingHasNoPoints) {
  EXPECT_EQ(points("zero=1"), 0);
  EXPECT_EQ(points("zero=1,mbs=4"), 0);  // sizes of a microbatch are no burden
  EXPECT_EQ(points("zero=1,overlap=grad_reduce+param_gather"), 0);
}

TEST_F(SimplicityOf, EachAxisIsOneAndContextsAreTwo) {
  EXPECT_EQ(points("tp=4,sp=1,zero=1"), 1);
  EXPECT_EQ(points("tp=4,sp=1,pp=4,zero=1"), 2);
  EXPECT_EQ(points("tp=4,sp=1,pp=4,cp=2,zero=1"), 4);
}

TEST_F(SimplicityOf, UnevenStagesAndManyChunksWeighTen) {
  EXPECT_EQ(of("pp=4,vpp=5,schedule=interleaved-1f1b,zero=1")[Burden::kChunks], 1);
  EXPECT_EQ(of("pp=4,vpp=20,schedule=interleaved-1f1b,zero=1")[Burden::kChunks], 11);
  const Burdens uneven = of("pp=2,layers_per_stage=41+39,zero=1");
  EXPECT_EQ(uneven[Burden::kCut], 10);
  EXPECT_EQ(of("pp=2,layers_per_stage=emb+loss,zero=1")[Burden::kCut], 1);
  EXPECT_EQ(of("pp=2,layers_per_stage=40+40,zero=1")[Burden::kCut], 0);
}

TEST_F(SimplicityOf, EachSwitchAwayFromItsPlainValueIsOne) {
  EXPECT_EQ(of("zero=0")[Burden::kSwitches], 1);
  EXPECT_EQ(of("tp=2,sp=0,zero=1")[Burden::kSwitches], 1);  // without sequence parallelism
  EXPECT_EQ(of("zero=1,recompute=full")[Burden::kSwitches], 1);
  EXPECT_EQ(of("zero=1,recompute=selective:layernorm+mlp")[Burden::kSwitches], 2);
  EXPECT_EQ(of("tp=2,sp=1,zero=1,overlap=tp")[Burden::kSwitches], 1);
  EXPECT_EQ(of("pp=2,zero=1,order=tp-cp-ep-pp-dp")[Burden::kSwitches], 1);
}

// tp=64 and cp=64 were not measured by anybody, tp=8 and cp=8 were.
TEST_F(SimplicityOf, WhatNoRunHadWeighsTen) {
  EXPECT_EQ(of("tp=8,sp=1,cp=8,zero=1")[Burden::kUnmeasured], 0);
  EXPECT_EQ(of("tp=64,sp=1,zero=1")[Burden::kUnmeasured], 10);
  EXPECT_EQ(of("tp=64,sp=1,cp=64,zero=1")[Burden::kUnmeasured], 20);
  EXPECT_EQ(of("pp=2,schedule=zbv,vpp=2,zero=1")[Burden::kUnmeasured], 10);
}

TEST_F(SimplicityOf, MemoryTheDeviceDoesNotHaveWeighsTen) {
  const Bytes usable = problem.job.cluster.device.usable_memory();
  EXPECT_EQ(of("zero=1", usable)[Burden::kMemory], 0);
  EXPECT_EQ(of("zero=1", usable * 1.01)[Burden::kMemory], 10);
}

TEST(Recommended, OfNothingGivenUpItIsTheFastest) {
  const std::vector<Contender> contenders{{2.0, 0}, {1.0, 9}, {1.01, 3}};
  EXPECT_EQ(recommended_of(contenders, 0.0), 1U);
  EXPECT_EQ(recommended_of(contenders, 0.02), 2U);
  EXPECT_EQ(recommended_of(contenders, 1.0), 0U);
}

TEST(Recommended, OfEquallySimpleOnesItIsTheFastest) {
  const std::vector<Contender> contenders{{1.02, 2}, {1.0, 9}, {1.01, 2}};
  EXPECT_EQ(recommended_of(contenders, 0.03), 2U);
}

TEST(Recommended, NoMoreIsGivenUpThanDifferencesCanTell) {
  DifferenceSpreads spreads = built_in_spreads();
  EXPECT_NEAR(most_given_up(spreads), kMostGivenUp, 1e-12);
  describe::DifferenceFile file = spreads.file();
  for (describe::DifferenceSpread& one : file.classes) {
    one.factor = one.name == "mesh" ? 1.01 : one.factor;
  }
  EXPECT_NEAR(most_given_up(*DifferenceSpreads::of(file)), 0.01, 1e-12);
}

// Against every layout by itself: as few points, and of those the fastest.
TEST(Recommended, EqualsTryingEverything) {
  const DifferenceSpreads spreads = built_in_spreads();
  std::size_t simpler = 0;
  const unsigned problems = random_cases(40);
  for (unsigned seed = 0; seed < problems; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem =
        seed % 4 == 3 ? AnyProblem(seed).problem_on_slices() : AnyProblem(seed).problem();
    const Space space(problem);
    const Simplicity measure(space.choices(), problem.job, spreads);
    const double given_up = most_given_up(spreads);
    const FindOptions options{
        .top = 1, .threads = 1 + seed % 3, .simplest = Simplest{&measure, given_up}};
    const Found found = find_plans(space, options);
    if (found.plans.empty()) {
      continue;
    }
    std::vector<Contender> all;
    Leaf leaf(problem);
    for (const Layout& layout : EveryLayout(problem).list()) {
      if (leaf.fits(layout)) {
        all.push_back({leaf.time(layout).step.base(),
                       measure.of(layout, leaf.memory(layout).device).total()});
      }
    }
    const Contender& expected = all[recommended_of(all, given_up)];
    const Recommended got = recommended(problem, found, measure, spreads);
    EXPECT_EQ(got.own.total(), expected.points) << describe::to_text(got.plan.layout);
    EXPECT_NEAR(got.plan.time.step.base(), expected.value, expected.value * 1e-9);
    EXPECT_EQ(got.difference.verdict(), step::Verdict::kEven);
    const double best = std::ranges::min(all, {}, &Contender::value).value;
    EXPECT_NEAR(found.plans.front().time.step.base(), best, best * 1e-9);
    simpler += got.own.total() < got.fastest.total() ? 1 : 0;
  }
  EXPECT_GT(simpler, 5U);
}

}  // namespace
}  // namespace sextant::search
