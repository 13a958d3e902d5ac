#include "step/search.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "step/testing.h"

namespace sextant::step {
namespace {

using describe::Layout;

bool same_terms(const StepTerms& a, const StepTerms& b) {
  const auto same_times = [](const AxisTimes& one, const AxisTimes& other) {
    return one.times == other.times;
  };
  return a.step == b.step && a.compute == b.compute && a.host == b.host && a.bubble == b.bubble &&
         a.update == b.update && a.beside == b.beside && a.slowest_rank == b.slowest_rank &&
         same_times(a.exposed, b.exposed) && same_times(a.hidden, b.hidden);
}

// Takes the choice that `index` counts to and leaves the rest of the index.
template <typename T, std::size_t N>
T pick(const std::array<T, N>& choices, std::size_t& index) {
  const T choice = choices[index % N];
  index /= N;
  return choice;
}

Layout numbered_layout(const describe::Model& model, std::size_t index) {
  using describe::Overlap;
  using describe::Recompute;
  using describe::Zero;
  Layout layout;
  layout.tp = pick(std::array<std::int64_t, 4>{1, 2, 4, 8}, index);
  layout.pp = pick(std::array<std::int64_t, 5>{1, 2, 4, 8, 16}, index);
  layout.vpp = pick(std::array<std::int64_t, 3>{1, 2, 4}, index);
  layout.cp = pick(std::array<std::int64_t, 3>{1, 2, 4}, index);
  layout.mbs = pick(std::array<std::int64_t, 3>{1, 2, 4}, index);
  layout.zero =
      pick(std::array{Zero::kNone, Zero::kOptimizer, Zero::kGradients, Zero::kParameters}, index);
  layout.recompute.granularity =
      pick(std::array{Recompute::kNone, Recompute::kSelective, Recompute::kFull}, index);
  layout.ep = pick(std::array<std::int64_t, 3>{1, 8, 32}, index);
  layout.precision = pick(std::array{describe::Precision::kBf16, describe::Precision::kFp8}, index);
  if (pick(std::array{false, true}, index)) {
    layout.overlap = {Overlap::kGradReduce, Overlap::kParamGather};
  }
  layout.sp = layout.tp > 1;
  layout.schedule =
      layout.vpp > 1 ? describe::Schedule::kInterleaved1f1b : describe::Schedule::k1f1b;
  layout.split = describe::plausible_split(model.layer_count(), layout.stages());
  return layout;
}

describe::Job large_job(const char* model) {
  describe::Job job = workload::traffic_job(workload::catalogue(model), 1024);
  job.cluster.device = *describe::load_device("h100-sxm", describe::DataStore());
  job.sequences.length = 8192;
  job.global_batch = 1024;
  return job;
}

// One in a hundred of a grid, in random order, as a search would meet them.
std::vector<Layout> sampled_layouts(describe::Job job) {
  constexpr std::size_t kLayouts = std::size_t{4} * 5 * 3 * 3 * 3 * 4 * 3 * 3 * 2 * 2;
  constexpr std::size_t kOneIn = 100;
  std::vector<Layout> layouts;
  for (std::size_t index = 0; index < kLayouts; index += kOneIn - 1) {  // no factor of a choice
    job.layout = numbered_layout(job.model, index);
    if (describe::check_rules(job).empty()) {
      layouts.push_back(job.layout);
    }
  }
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same order every time
  std::shuffle(layouts.begin(), layouts.end(), random);
  return layouts;
}

void expect_same_on_a_sample(const char* model) {
  describe::Job job = large_job(model);
  const std::vector<Layout> layouts = sampled_layouts(job);
  const StepModel machine = h100_model();
  const auto memory =
      *describe::memory_facts(describe::DataStore(), describe::Framework::kMegatronCore);
  StepSearch search(job, machine, memory);
  cost::MemoryModel model_of_memory(job, memory);
  std::size_t fitting = 0;
  for (const Layout& layout : layouts) {
    const SearchEstimate found = search.estimate(layout);
    job.layout = layout;
    EXPECT_TRUE(same_terms(found.time, estimate_step(job, machine)));
    const cost::RankMemory fullest = model_of_memory.fullest(layout);
    EXPECT_EQ(found.allocated, fullest.allocated);
    EXPECT_EQ(found.fits, fullest.least <= job.cluster.device.usable_memory());
    fitting += found.fits ? 1 : 0;
  }
  EXPECT_GT(layouts.size(), 100U);
  EXPECT_GT(fitting, 0U);
  EXPECT_LT(fitting, layouts.size());
}

TEST(StepSearch, EqualsTheEstimateOfADenseModel) {
  expect_same_on_a_sample("llama-3.1-70b");
}

TEST(StepSearch, EqualsTheEstimateOfAModelWithExperts) {
  expect_same_on_a_sample("deepseek-v3");
}

// Limits so low that each part is forgotten while the layout that it is of still holds it.
TEST(StepSearch, ForgetsNothingThatALayoutHolds) {
  describe::Job job = large_job("deepseek-v3");
  const StepModel machine = machine_of("h100-sxm", "nvlink4", 12);  // groups lie in many ways
  StepCosts forgetful(job, machine, {.keep = kKeepNothing});
  for (const Layout& layout : sampled_layouts(job)) {
    job.layout = layout;
    EXPECT_TRUE(same_terms(forgetful.terms(layout), estimate_step(job, machine)));
  }
}

// Any framework, blocks, schedules and places: what was kept of one layout must not leak into the
// next.
RC_GTEST_PROP(StepSearch, RemembersNothingOfOtherLayouts, ()) {
  describe::Job job = workload::random_job();
  const StepModel machine = any_machine();
  StepCosts costs(job, machine);
  StepCosts forgetful(job, machine, {.keep = kKeepNothing});
  const Layout first = job.layout;
  for (int i = 0; i < 4; ++i) {
    job.layout = first;
    job.layout.mbs = *rc::gen::element<std::int64_t>(1, 2);
    job.layout.zero = *rc::gen::element(describe::Zero::kNone, describe::Zero::kOptimizer,
                                        describe::Zero::kParameters);
    job.layout.recompute.granularity =
        *rc::gen::element(describe::Recompute::kNone, describe::Recompute::kFull);
    job.layout.precision = *rc::gen::element(describe::Precision::kBf16, describe::Precision::kFp8);
    job.layout.dispatcher =
        *rc::gen::element(describe::Dispatcher::kAllToAll, describe::Dispatcher::kDeepEp);
    if (describe::check_rules(job).empty()) {
      const StepTerms expected = estimate_step(job, machine);
      RC_ASSERT(same_terms(costs.terms(job.layout), expected));
      RC_ASSERT(same_terms(forgetful.terms(job.layout), expected));
    }
  }
}

}  // namespace
}  // namespace sextant::step
