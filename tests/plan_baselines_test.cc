// Other ways to choose a layout: that each does what it says, and agrees with the search where both
// must.
#include <array>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "describe/layout/legality.h"
#include "plan_scenarios.h"
#include "search/baselines/alpa.h"
#include "search/baselines/intra_op.h"
#include "search/baselines/stage_cuts.h"

namespace sextant {
namespace {

using search::BaselineResult;
using search::Problem;
using tests::Scenario;

Problem made(const Scenario& scenario) {
  const app::Context context;
  auto problem = tests::problem_of(scenario, context);
  EXPECT_TRUE(problem) << (problem ? "" : to_text(problem.error()));
  return problem ? *std::move(problem) : Problem();
}

// Most keys fixed, so that every layout can be priced.
Problem narrowed(const Scenario& scenario) {
  Problem problem = made(scenario);
  problem.fixed = {"cp", "cp_method", "etp", "sp", "dispatcher", "zero_group", "order", "overlap"};
  return problem;
}

search::Plan fastest(const Problem& problem, search::Calls* calls = nullptr) {
  const search::Space space(problem);
  search::FindOptions options;
  options.top = 1;
  options.threads = 1;
  search::Found found = search::find_plans(space, options);
  EXPECT_FALSE(found.plans.empty());
  if (calls != nullptr) {
    *calls = found.calls;
  }
  return found.plans.empty() ? search::Plan() : found.plans.front();
}

// A result without a plan fails the test.
search::Plan plan_of(const BaselineResult& result) {
  EXPECT_TRUE(result.plan.has_value());
  return result.plan.value_or(search::Plan());
}

bool legal_and_fits(const Problem& problem, const search::Plan& plan) {
  describe::Job job = problem.job;
  job.layout = plan.layout;
  return describe::is_legal(job) && plan.device <= problem.available();
}

// --- The rule ---------------------------------------------------------------------------------

TEST(MegatronRule, PicksALegalLayoutThatFits) {
  for (const Scenario& scenario : {Scenario{"llama-2-7b", "64xh100-sxm", 256, 4096},
                                   {"gpt-3-175b", "256xa100-sxm-80g", 512, 2048},
                                   {"mixtral-8x7b", "64xh100-sxm", 256, 4096},
                                   {"llama-3-70b", "128xh100-sxm", 256, 8192}}) {
    SCOPED_TRACE(scenario.model);
    const Problem problem = made(scenario);
    const BaselineResult rule = search::megatron_rule(problem);
    EXPECT_TRUE(legal_and_fits(problem, plan_of(rule)));
    EXPECT_LE(rule.calls.timed, 3);  // micro-batches of 1, 2 and 4
    EXPECT_LE(plan_of(rule).layout.tp, 8);
    EXPECT_EQ(plan_of(rule).layout.sp, plan_of(rule).layout.tp > 1);
  }
}

// 175B parameters need more than a node of 80 GB devices: tp fills the node, then stages follow.
TEST(MegatronRule, FillsANodeWithTensorParallelismBeforeItAddsStages) {
  const BaselineResult rule =
      search::megatron_rule(made({"gpt-3-175b", "256xa100-sxm-80g", 512, 2048}));
  EXPECT_EQ(plan_of(rule).layout.tp, 8);
  EXPECT_GT(plan_of(rule).layout.pp, 1);
}

TEST(MegatronRule, UsesOneDeviceForAModelThatFitsOnIt) {
  const BaselineResult rule = search::megatron_rule(made({"gpt2-xl", "16xh100-sxm", 128, 1024}));
  EXPECT_EQ(plan_of(rule).layout.tp * plan_of(rule).layout.pp, 1);
}

TEST(MegatronRule, SpreadsExpertsOverTheNode) {
  const BaselineResult rule =
      search::megatron_rule(made({"mixtral-8x7b", "64xh100-sxm", 256, 4096}));
  EXPECT_EQ(plan_of(rule).layout.ep, 8);
  EXPECT_EQ(plan_of(rule).layout.etp, 1);
}

TEST(MegatronRule, KeepsWhatIsFixed) {
  Problem problem = made({"llama-2-7b", "64xh100-sxm", 256, 4096, "pp=4"});
  problem.fixed = {"pp"};
  const BaselineResult rule = search::megatron_rule(problem);
  EXPECT_EQ(plan_of(rule).layout.pp, 4);
}

// --- All layouts, and some --------------------------------------------------------------------

class SmallProblem : public ::testing::TestWithParam<Scenario> {};

TEST_P(SmallProblem, AllLayoutsHoldNoneFasterThanTheSearchFinds) {
  const Problem problem = narrowed(GetParam());
  const search::Space space(problem);
  const BaselineResult all = search::exhaustive(space);
  const search::Plan found = fastest(problem);
  EXPECT_EQ(plan_of(all).time.step, found.time.step)
      << describe::to_text(plan_of(all).layout) << " against " << describe::to_text(found.layout);
  EXPECT_EQ(static_cast<double>(all.calls.weighed), search::Space(space).count());
}

TEST_P(SmallProblem, DrawsAreTheSameForASeedAndNeverBeatAllLayouts) {
  const Problem problem = narrowed(GetParam());
  const search::Space space(problem);
  const BaselineResult one = search::random_layouts(space, 200, 7);
  const BaselineResult two = search::random_layouts(space, 200, 7);
  EXPECT_EQ(plan_of(one).layout, plan_of(two).layout);
  EXPECT_EQ(one.calls.weighed, 200);
  EXPECT_TRUE(legal_and_fits(problem, plan_of(one)));
  EXPECT_TRUE(search::Space(space).holds(plan_of(one).layout));
  EXPECT_GE(plan_of(one).time.step, fastest(problem).time.step);
}

INSTANTIATE_TEST_SUITE_P(Some, SmallProblem,
                         ::testing::Values(Scenario{"gpt2-xl", "16xa100-sxm-40g", 16, 1024},
                                           Scenario{"llama-3.2-1b", "8xh100-sxm", 24, 4096},
                                           Scenario{"olmoe-1b-7b", "8xh100-sxm", 16, 4096}),
                         [](const auto& tested) { return fmt::format("Number{}", tested.index); });

// --- Meshes -----------------------------------------------------------------------------------

// C(k + 3, 3) for 2^k devices.
TEST(BlackBox, HasOneMeshForEveryWayToDealTheTwos) {
  EXPECT_EQ(search::power_of_two_meshes(1).size(), 1U);
  EXPECT_EQ(search::power_of_two_meshes(16).size(), 35U);    // C(7, 3)
  EXPECT_EQ(search::power_of_two_meshes(256).size(), 165U);  // C(11, 3)
  for (const search::MeshAxes& mesh : search::power_of_two_meshes(48)) {
    EXPECT_EQ(mesh.data * mesh.tensor * mesh.context * mesh.fourth, 48);
  }
}

TEST(BlackBox, TriesEachMeshOnceAtMost) {
  const Problem problem = made({"llama-2-7b", "256xh100-sxm", 512, 4096});
  const BaselineResult best = search::black_box(problem);
  EXPECT_LE(best.calls.weighed, 165);
  EXPECT_GT(best.calls.timed, 20);
  EXPECT_TRUE(legal_and_fits(problem, plan_of(best)));
}

// --- Alpa's parts -----------------------------------------------------------------------------

// Every way to cut, by brute force.
Seconds best_by_force(const search::RunTimes& times, std::int64_t stages,
                      std::int64_t microbatches) {
  Seconds best(std::numeric_limits<double>::infinity());
  const std::int64_t places = times.layers() - 1;
  for (std::uint32_t cuts = 0; cuts < (1U << static_cast<unsigned>(places)); ++cuts) {
    Seconds sum;
    Seconds longest;
    std::int64_t first = 0;
    std::int64_t parts = 0;
    for (std::int64_t last = 1; last <= times.layers(); ++last) {
      if (last == times.layers() || (cuts >> static_cast<unsigned>(last - 1) & 1U) != 0) {
        sum += times.at(first, last);
        longest = std::max(longest, times.at(first, last));
        first = last;
        ++parts;
      }
    }
    if (parts == stages) {
      best = std::min(best, sum + longest * static_cast<double>(microbatches - 1));
    }
  }
  return best;
}

TEST(StageCuts, AreTheBestOfAllWaysToCut) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    const auto number = [&] { return 0.1 + static_cast<double>(random() % 1000) / 1000.0; };
    search::RunTimes times(8);
    for (std::int64_t first = 0; first < 8; ++first) {
      for (std::int64_t last = first + 1; last <= 8; ++last) {
        times.at(first, last) = Seconds(number() * static_cast<double>(last - first));
      }
    }
    for (const std::int64_t stages : {1, 2, 3, 5, 8}) {
      for (const std::int64_t microbatches : {1, 4, 64}) {
        const auto cuts = search::best_cuts(times, {stages, microbatches, {}});
        const search::StageCuts found = cuts.value_or(search::StageCuts());
        EXPECT_EQ(found.layers.size(), static_cast<std::size_t>(stages));
        EXPECT_NEAR(found.time / 1_s, best_by_force(times, stages, microbatches) / 1_s, 1e-12);
      }
    }
    EXPECT_FALSE(search::best_cuts(times, {9, 1, {}}));
  }
}

TEST(StageCuts, LeaveOutRunsThatDoNotFitAndThoseThatHoldThem) {
  search::RunTimes times(4);
  for (std::int64_t first = 0; first < 4; ++first) {
    for (std::int64_t last = first + 1; last <= 4; ++last) {
      times.at(first, last) = Seconds(static_cast<double>(last - first));
    }
  }
  const auto cut = [&](const search::CutQuestion& question) {
    return search::best_cuts(times, question).value_or(search::StageCuts()).layers;
  };
  // Even halves are best; with two layers too many for the first stage it holds one.
  EXPECT_EQ(cut({2, 8, {}}), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(cut({2, 8, {{0, 0, 2}}}), (std::vector<std::int64_t>{1, 3}));
  EXPECT_FALSE(search::best_cuts(times, {2, 8, {{0, 0, 1}}}));
}

using ChainCosts = std::array<search::SplitCosts, 6>;

// embedding, mixer 0, ffn 0, mixer 1, ffn 1, head, with 2 layers of the first kind and 3 of the
// second: ffn 0 leads to mixer 0 once and to mixer 1 once, ffn 1 to mixer 1 twice. All 3^6 ways.
double cheapest_by_force(const ChainCosts& nodes, const search::GroupCosts& costs) {
  struct Edge {
    std::size_t from;
    std::size_t into;
    double count;
  };
  constexpr std::array<double, 6> kCounts{1, 2, 2, 3, 3, 1};
  constexpr std::array<Edge, 7> kEdges{
      {{0, 1, 1}, {1, 2, 2}, {2, 1, 1}, {2, 3, 1}, {3, 4, 3}, {4, 3, 2}, {4, 5, 1}}};
  constexpr double kNever = std::numeric_limits<double>::infinity();
  double best = kNever;
  for (int code = 0; code < 729; ++code) {
    std::array<std::size_t, 6> way{};
    double sum = 0.0;
    int rest = code;
    for (std::size_t i = 0; i < way.size(); ++i, rest /= 3) {
      way[i] = static_cast<std::size_t>(rest % 3);
      sum += nodes[i][way[i]].value_or(Seconds(kNever)) / 1_s * kCounts[i];
    }
    for (const Edge& edge : kEdges) {
      sum += costs.resend[way[edge.from]][way[edge.into]] / 1_s * edge.count;
    }
    best = std::min(best, sum);
  }
  return best;
}

TEST(IntraOp, TheProgramFindsTheCheapestWayToSplitGroups) {
  describe::Model model;
  model.blocks.resize(2);
  model.layers = {0, 0, 1, 1, 1};
  const search::RunContent content = search::run_content(model, 0, 5);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    const auto number = [&] { return Seconds(static_cast<double>(1 + random() % 1000) / 1000.0); };
    ChainCosts nodes;
    for (search::SplitCosts& node : nodes) {
      node = {number(), number(), number()};
      if (random() % 3 == 0) {
        node[1].reset();
      }
    }
    search::GroupCosts costs;
    costs.embedding = nodes[0];
    costs.blocks = {{nodes[1], nodes[2]}, {nodes[3], nodes[4]}};
    costs.head = nodes[5];
    for (std::size_t from = 0; from < search::kGroupSplits; ++from) {
      for (std::size_t into = 0; into < search::kGroupSplits; ++into) {
        costs.resend[from][into] = from == into ? Seconds() : number() * 0.3;
      }
    }
    EXPECT_NEAR(search::solve_intra_op(costs, content).time / 1_s, cheapest_by_force(nodes, costs),
                1e-6);
  }
}

// --- Alpa and the search ----------------------------------------------------------------------

class Shared : public ::testing::TestWithParam<Scenario> {};

TEST_P(Shared, AlpaAndTheSearchAgree) {
  const Problem problem = search::shared_space(made(GetParam()));
  search::Calls ours;
  const search::Plan found = fastest(problem, &ours);
  const search::AlpaResult alpa = search::alpa(problem, search::Submeshes::kPowersOfTwo);
  EXPECT_TRUE(legal_and_fits(problem, plan_of(alpa)));
  EXPECT_NEAR(plan_of(alpa).time.step / found.time.step, 1.0, 0.005)
      << describe::to_text(plan_of(alpa).layout) << " against " << describe::to_text(found.layout);
  EXPECT_GT(alpa.calls.total(), ours.total());
}

INSTANTIATE_TEST_SUITE_P(Some, Shared,
                         ::testing::Values(Scenario{"gpt2-xl", "16xa100-sxm-40g", 64, 1024},
                                           Scenario{"olmoe-1b-7b", "16xh100-sxm", 64, 4096,
                                                    "ep=8,sp=1"}),
                         [](const auto& tested) { return fmt::format("Number{}", tested.index); });

}  // namespace
}  // namespace sextant
