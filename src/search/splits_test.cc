#include "search/splits.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "describe/layout/pipeline_split.h"

namespace sextant::search {
namespace {

using Counts = std::vector<std::int64_t>;

// The layers of each stage in every split there is to choose.
std::vector<Counts> counts_of_splits(std::int64_t layers, std::int64_t stages) {
  Problem problem;
  problem.job.model.layers.resize(static_cast<std::size_t>(layers));
  Choices choices;
  choices.splits = Splits::kAny;
  choices.counts_ends = true;
  std::vector<Counts> list;
  describe::Layout probe;
  probe.pp = stages;
  for (const describe::PipelineSplit& split : splits_of(problem, choices, stages)) {
    probe.split = split;
    const auto counts = describe::layers_of_stages(layers, probe);
    EXPECT_TRUE(counts) << layers << " layers on " << stages;
    list.push_back(counts.value_or(Counts{}));
  }
  return list;
}

std::set<Counts> set_of(const std::vector<Counts>& list) {
  return {list.begin(), list.end()};
}

// Two layers a stage. Every stage holds one, so the first and the last hold 1 to 3 each; the two
// between share the rest, the later one the odd layer.
TEST(Splits, OfEightLayersOnFourStagesAreNine) {
  EXPECT_EQ(set_of(counts_of_splits(8, 4)), (std::set<Counts>{{1, 3, 3, 1},
                                                              {2, 2, 3, 1},
                                                              {3, 2, 2, 1},  // last one lighter
                                                              {1, 2, 3, 2},
                                                              {2, 2, 2, 2},
                                                              {3, 1, 2, 2},  // as it is when even
                                                              {1, 2, 2, 3},
                                                              {2, 1, 2, 3},
                                                              {3, 1, 1, 3}}));  // one heavier
}

// A layer a stage and two left over: even with embedding and loss counted, which is {1, 2, 2, 1}.
TEST(Splits, OfSixLayersOnFourStagesAreFour) {
  EXPECT_EQ(set_of(counts_of_splits(6, 4)),
            (std::set<Counts>{{1, 2, 2, 1}, {2, 1, 2, 1}, {1, 1, 2, 2}, {2, 1, 1, 2}}));
}

// Nothing lies between two stages: what one has less the other has more. Six each and one left over
// make 7 and 6 either way round; a lighter last stage leaves it to the first beside its own.
TEST(Splits, OfThirteenLayersOnTwoStagesAreThree) {
  EXPECT_EQ(set_of(counts_of_splits(13, 2)), (std::set<Counts>{{8, 5}, {7, 6}, {6, 7}}));
}

// Every way to deal `layers` to `stages`, at least one each.
void each_deal(std::int64_t layers, std::size_t stages, Counts& dealt,
               const std::function<void(const Counts&)>& visit) {
  if (dealt.size() + 1 == stages) {
    dealt.push_back(layers);
    visit(dealt);
    dealt.pop_back();
    return;
  }
  const auto after = static_cast<std::int64_t>(stages - dealt.size()) - 1;
  for (std::int64_t here = 1; here + after <= layers; ++here) {
    dealt.push_back(here);
    each_deal(layers - here, stages, dealt, visit);
    dealt.pop_back();
  }
}

// The rule of the header, asked of a deal.
bool is_a_split(const Counts& dealt) {
  const auto stages = static_cast<std::int64_t>(dealt.size());
  const std::int64_t layers = std::accumulate(dealt.begin(), dealt.end(), std::int64_t{0});
  const std::int64_t each = layers / stages;
  const std::int64_t first = dealt.front() - each;
  const std::int64_t last = dealt.back() - each;
  // Of layers that do not divide, a light last stage leaves one more to the others.
  const std::int64_t heavy = last < 0 && layers % stages != 0 ? 2 : 1;
  if (first < -2 || first > heavy || last < -4 || last > 1) {
    return false;
  }
  // Spread evenly: stages up to any between them hold their share, rounded down.
  const std::int64_t between = stages - 2;
  std::int64_t sum = 0;
  for (std::int64_t i = 1; i <= between; ++i) {
    sum += dealt[static_cast<std::size_t>(i)];
    if (sum != (layers - dealt.front() - dealt.back()) * i / between) {
      return false;
    }
  }
  return true;
}

TEST(Splits, AreEveryDealThatTheRuleAllowsOnce) {
  for (const std::int64_t stages : {2, 3, 4, 5}) {
    for (std::int64_t layers = stages; layers <= 5 * stages; ++layers) {
      std::set<Counts> expected;
      Counts dealt;
      each_deal(layers, static_cast<std::size_t>(stages), dealt, [&](const Counts& deal) {
        if (is_a_split(deal)) {
          expected.insert(deal);
        }
      });
      const std::vector<Counts> list = counts_of_splits(layers, stages);
      EXPECT_EQ(set_of(list), expected) << layers << " layers on " << stages;
      // On two stages, counting both ends moves nothing: even, said in another way.
      if (stages > 2) {
        EXPECT_EQ(list.size(), expected.size()) << layers << " layers on " << stages;
      }
    }
  }
}

}  // namespace
}  // namespace sextant::search
