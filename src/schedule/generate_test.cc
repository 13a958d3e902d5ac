#include "schedule/generate.h"

#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "schedule/testing.h"

namespace sextant::schedule {
namespace {

using describe::Schedule;

std::string actions_text(const std::vector<Action>& actions) {
  std::string text;
  for (const Action& action : actions) {
    text += to_text(action);
    text += action.with_next ? "+" : " ";
  }
  return text;
}

std::vector<std::string> texts_of(const ScheduleShape& shape) {
  const auto table = action_table(shape);
  EXPECT_TRUE(table) << (table ? "" : to_text(table.error()));
  std::vector<std::string> texts;
  for (const std::vector<Action>& rank : table ? table->ranks : ActionTable().ranks) {
    texts.push_back(actions_text(rank));
  }
  return texts;
}

TEST(ActionTables, GpipeRunsAllForwardsThenAllBackwards) {
  EXPECT_EQ(texts_of({Schedule::kGpipe, 2, 1, 2}),
            (std::vector<std::string>{"0F0 0F1 0B0 0B1 ", "1F0 1F1 1B0 1B1 "}));
}

TEST(ActionTables, OneForwardOneBackwardStartsWithAForwardForEachStageAfter) {
  EXPECT_EQ(texts_of({Schedule::k1f1b, 3, 1, 4}),
            (std::vector<std::string>{"0F0 0F1 0F2 0B0 0F3 0B1 0B2 0B3 ",
                                      "1F0 1F1 1B0 1F2 1B1 1F3 1B2 1B3 ",
                                      "2F0 2B0 2F1 2B1 2F2 2B2 2F3 2B3 "}));
}

TEST(ActionTables, FewerMicrobatchesThanStagesAreAllWarmUp) {
  EXPECT_EQ(texts_of({Schedule::k1f1b, 4, 1, 2})[0], "0F0 0F1 0B0 0B1 ");
}

// DeepSeek's own program for 4 ranks and 8 microbatches: 4 from each end.
TEST(ActionTables, DualPipeFeedsFromBothEnds) {
  const auto texts = texts_of({Schedule::kDualPipe, 4, 1, 8});
  EXPECT_EQ(texts[0],
            "0F0 0F1 0F2 3F4 3I4 3W4 3F5 0F3+3B5 3F6+0B0 3B6 3F7+0B1 3B7 0I2 0W2 0I3 0W3 ");
  EXPECT_EQ(texts[1], "1F0 2F4 1F1 2F5 1F2 2B4 2F6+1B0 1F3+2B5 2F7+1B1 2B6 1B2 2I7 1I3 2W7 1W3 ");
}

TEST(ActionTables, PairsOfInterleavedSharedSlotsComeOneForwardLater) {
  EXPECT_EQ(texts_of({Schedule::kInterleaved1f1b, 2, 2, 2, 0, true})[1],
            "1F0 1F1 3F0 3F1+3B0 3B1 1B0 1B1 ");
}

TEST(ActionTables, RefuseWhatTheScheduleCannotRun) {
  for (const ScheduleShape& shape :
       std::vector<ScheduleShape>{{Schedule::k1f1b, 4, 2, 8},
                                  {Schedule::kGpipe, 4, 2, 8},
                                  {Schedule::kZbv, 4, 1, 8},
                                  {Schedule::kDualPipe, 4, 1, 6},             // below 2·pp
                                  {Schedule::kDualPipe, 4, 1, 9},             // odd
                                  {Schedule::kDualPipe, 3, 1, 8},             // no two halves
                                  {Schedule::kDualPipeV, 4, 2, 7},            // below 2·pp
                                  {Schedule::kInterleaved1f1b, 4, 2, 9},      // two rounds of 4.5
                                  {Schedule::kInterleaved1f1b, 4, 2, 10, 4},  // a last group of 2
                                  {Schedule::kInterleaved1f1b, 4, 2, 8, 3},   // a group below pp
                                  {Schedule::kInterleaved1f1b, 4, 2, 8, 9},   // a group above all
                                  {Schedule::k1f1b, 0, 1, 8},
                                  {Schedule::k1f1b, 4, 1, 0},
                                  {Schedule::k1f1b, 4, 1, 1'000'000'000'000},
                                  {Schedule::kInterleaved1f1b, 4, 1'000'000'000'000, 4}}) {
    EXPECT_FALSE(action_table(shape)) << shape.pp << " " << shape.vpp << " " << shape.microbatches;
  }
}

TEST(ActionTables, TakeMicrobatchesThatAreNoMultipleOfPpInEqualRounds) {
  // One round of six; two of five; a short last group of its own size.
  EXPECT_EQ(texts_of({Schedule::kInterleaved1f1b, 4, 2, 6})[3].substr(0, 32),
            "3F0 3F1 3F2 3F3 3F4 3F5 7F0 7B0 ");
  EXPECT_TRUE(action_table({Schedule::kInterleaved1f1b, 4, 2, 10}));
  EXPECT_EQ(texts_of({Schedule::kInterleaved1f1b, 2, 2, 5, 3})[1],
            "1F0 1F1 1F2 3F0 3B0 3F1 3B1 3F2 3B2 1F3 1B0 1F4 1B1 3F3 1B2 3F4 3B3 3B4 1B3 1B4 ");
}

RC_GTEST_PROP(ActionTableLaws, EveryStageAndMicrobatchOnceOnOneRankWithoutDeadlock, ()) {
  const ScheduleShape shape = random_shape();
  const ActionTable table = *action_table(shape);
  std::map<std::pair<int, int>, std::set<std::size_t>> ranks;
  std::map<std::tuple<int, int, ActionKind>, int> count;
  for (std::size_t rank = 0; rank < table.ranks.size(); ++rank) {
    for (const Action& action : table.ranks[rank]) {
      ranks[{action.stage, action.microbatch}].insert(rank);
      ++count[{action.stage, action.microbatch, action.kind}];
    }
  }
  RC_ASSERT(ranks.size() == static_cast<std::size_t>(table.stages * table.microbatches));
  for (const auto& [key, on] : ranks) {
    RC_ASSERT(on.size() == 1U);
    const auto times = [&, at = key](ActionKind kind) {
      const auto found = count.find({at.first, at.second, kind});
      return found == count.end() ? 0 : found->second;
    };
    RC_ASSERT(times(ActionKind::kForward) == 1);
    RC_ASSERT(times(ActionKind::kBackward) + times(ActionKind::kInputGradient) == 1);
    RC_ASSERT(times(ActionKind::kInputGradient) == times(ActionKind::kWeightGradient));
  }
  RC_ASSERT(static_cast<bool>(compiled(table)));
}

RC_GTEST_PROP(ActionTableLaws, GroupsOfOnesOwnNeitherLoseNorBlock, ()) {
  ScheduleShape shape = random_shape(Schedule::kInterleaved1f1b);
  shape.microbatches *= shape.pp;
  shape.group = *rc::gen::inRange(shape.pp, shape.microbatches + 1);
  shape.pairs = *rc::gen::arbitrary<bool>();
  const auto table = action_table(shape);
  RC_PRE(static_cast<bool>(table));
  RC_ASSERT(static_cast<bool>(compiled(*table)));
}

}  // namespace
}  // namespace sextant::schedule
