#include "diagnose/found_groups.h"

#include <set>

#include <gtest/gtest.h>

#include "diagnose/stages.h"

namespace sextant::diagnose {
namespace {

constexpr std::int64_t kTick = 1'000'000;

// A whole job's trace: two replicas of two stages, on one clock, without groups. Of each step:
// work, a message from stage 0 to stage 1, a sum of each stage's replicas (which end at other
// times), a sum over all, and one that each rank does by itself.
class WholeJob {
 public:
  WholeJob() {
    for (std::int64_t rank = 0; rank < 4; ++rank) {
      metrics::RankSummary one{.rank = {rank}};
      one.is_whole_job = true;
      one.coordinates = {{"dp", rank % 2}, {"pp", rank / 2}, {"tp", 0}};
      one.names = {"all", "forward-recv", "forward-send", "grads", "own"};
      summary_.ranks.push_back(one);
    }
    for (std::int64_t step = 0; step < 3; ++step) {
      const std::int64_t at = step * 100 * kTick;
      for (std::int64_t rank = 0; rank < 4; ++rank) {
        const std::int64_t stage = rank / 2;
        add(rank, step, stage == 0 ? 2 : 1, at + (10 + 3 * (rank % 2)) * kTick, kTick);
        add(rank, step, 3, at + (30 + 10 * stage) * kTick, 4 * kTick, CollectiveOp::kReduceScatter);
        add(rank, step, 4, at + (50 + 2 * rank) * kTick, kTick, CollectiveOp::kAllReduce);
        add(rank, step, 0, at + 80 * kTick, 2 * kTick, CollectiveOp::kAllReduce);
        summary_.ranks[static_cast<std::size_t>(rank)].steps.push_back(
            {.number = step, .host = {}, .window = {at, at + 100 * kTick}});
      }
    }
  }
  [[nodiscard]] const metrics::Summary& summary() const { return summary_; }

 private:
  void add(std::int64_t rank, std::int64_t step, std::uint32_t name, std::int64_t start,
           std::int64_t takes, CollectiveOp op = CollectiveOp::kSendReceive) {
    summary_.ranks[static_cast<std::size_t>(rank)].instances.push_back({.step = step,
                                                                        .is_counted = true,
                                                                        .op = op,
                                                                        .start_ns = start,
                                                                        .end_ns = start + takes,
                                                                        .name = name});
  }
  metrics::Summary summary_;
};

std::multiset<std::vector<std::int64_t>> members(const std::vector<Meeting>& meetings,
                                                 std::int64_t step, CollectiveOp op) {
  std::multiset<std::vector<std::int64_t>> all;
  for (const Meeting& meeting : meetings) {
    if (meeting.step == step && meeting.op == op) {
      std::vector<std::int64_t> ranks;
      for (const metrics::SeenBy& seen : meeting.seen) {
        ranks.push_back(seen.rank.value);
      }
      all.insert(ranks);
    }
  }
  return all;
}

TEST(FoundGroups, AreTheLargestWhoseMembersAreThereAtOnce) {
  const WholeJob job;
  const std::vector<Meeting> meetings = found_meetings(job.summary());
  using Groups = std::multiset<std::vector<std::int64_t>>;
  for (std::int64_t step = 0; step < 3; ++step) {
    EXPECT_EQ(members(meetings, step, CollectiveOp::kReduceScatter), (Groups{{0, 1}, {2, 3}}));
    // What each does by itself, at its own time, is nobody's meeting.
    EXPECT_EQ(members(meetings, step, CollectiveOp::kAllReduce), (Groups{{0, 1, 2, 3}}));
  }
}

TEST(FoundGroups, MessagesPairAlongTheAxisOnWhichTheyOverlap) {
  const WholeJob job;
  const std::vector<Meeting> meetings = found_meetings(job.summary());
  for (std::int64_t step = 0; step < 3; ++step) {
    EXPECT_EQ(members(meetings, step, CollectiveOp::kSendReceive),
              (std::multiset<std::vector<std::int64_t>>{{0, 2}, {1, 3}}));
  }
  for (const Meeting& meeting : meetings) {
    EXPECT_EQ(meeting.is_message, meeting.op == CollectiveOp::kSendReceive);
  }
}

TEST(FoundGroups, StagesAreTheCoordinate) {
  const WholeJob job;
  EXPECT_EQ(stages_of(job.summary(), meetings_of(job.summary())),
            (std::vector<std::int64_t>{0, 0, 1, 1}));
}

}  // namespace
}  // namespace sextant::diagnose
