#include "workload/groups.h"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "describe/layout/pipeline_split.h"
#include "workload/traffic_testing.h"

namespace sextant::workload {
namespace {

using describe::Axis;
using describe::Job;
using Ranks = std::vector<std::int64_t>;

// The example of Megatron's parallel_state.py: 16 devices, tp = 2, pp = 4.
TEST(Groups, FollowMegatronsExample) {
  Job job = traffic_job(llama(4, 1024, 8), 16);
  job.layout.tp = 2;
  job.layout.pp = 4;
  EXPECT_EQ(group_ranks(job, GroupKind::kDp, 0), (Ranks{0, 2}));
  EXPECT_EQ(group_ranks(job, GroupKind::kDp, 5), (Ranks{5, 7}));
  EXPECT_EQ(group_ranks(job, GroupKind::kTp, 13), (Ranks{12, 13}));
  EXPECT_EQ(group_ranks(job, GroupKind::kPipeline, 6), (Ranks{2, 6, 10, 14}));
  EXPECT_EQ(group_ranks(job, GroupKind::kEmbedding, 6), (Ranks{2, 14}));
  EXPECT_EQ(group_ranks(job, GroupKind::kModel, 0), (Ranks{0, 1, 4, 5, 8, 9, 12, 13}));
  EXPECT_EQ(group_ranks(job, GroupKind::kWorld, 3).size(), 16U);
}

// tp = 2, cp = 2, dp = 4 of 16 ranks; experts see etp = 1, ep = 8, two copies.
TEST(Groups, ExpertsDivideTheSameRanksAnew) {
  Job job = traffic_job(llama(4, 1024, 8), 16);
  job.model.blocks[0].ffn = describe::MoeFfn{.experts = 8, .topk = 2, .width = 512};
  job.layout.tp = 2;
  job.layout.cp = 2;
  job.layout.ep = 8;
  EXPECT_EQ(group_ranks(job, GroupKind::kEp, 3), (Ranks{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(group_ranks(job, GroupKind::kExpertDp, 3), (Ranks{3, 11}));
  EXPECT_EQ(group_ranks(job, GroupKind::kDp, 1), (Ranks{1, 3, 5, 7, 9, 11, 13, 15}));
  EXPECT_EQ(group_ranks(job, GroupKind::kCp, 4), (Ranks{4, 6}));
}

TEST(Groups, ShardsAreNeighboursAndReplicasLieAcross) {
  Job job = traffic_job(llama(4, 1024, 8), 16);
  job.layout.tp = 2;
  job.layout.zero = describe::Zero::kParameters;
  job.layout.zero_group = 4;
  EXPECT_EQ(group_ranks(job, GroupKind::kShard, 10), (Ranks{8, 10, 12, 14}));
  EXPECT_EQ(group_ranks(job, GroupKind::kReplicate, 10), (Ranks{2, 10}));
}

TEST(Groups, FollowTheOrderOfAxes) {
  Job job = traffic_job(llama(4, 1024, 8), 8);
  job.layout.tp = 2;
  job.layout.pp = 2;
  job.layout.order = {Axis::kPp, Axis::kTp, Axis::kCp, Axis::kEp, Axis::kDp};
  EXPECT_EQ(group_ranks(job, GroupKind::kPipeline, 0), (Ranks{0, 1}));
  EXPECT_EQ(group_ranks(job, GroupKind::kTp, 0), (Ranks{0, 2}));
  EXPECT_EQ(group_ranks(job, GroupKind::kDp, 1), (Ranks{1, 5}));
}

// How often each rank is a member, over all groups of a kind.
std::set<int> memberships(const RankGrid& grid, GroupKind kind) {
  std::vector<int> seen(static_cast<std::size_t>(grid.world()), 0);
  for (std::int64_t rank = 0; rank < grid.world(); ++rank) {
    const RankGroup group = grid.group(kind, rank);
    RC_ASSERT(group.rank(group.position()) == rank);
    for (std::int64_t i = 0; group.position() == 0 && i < group.size(); ++i) {
      ++seen[static_cast<std::size_t>(group.rank(i))];
    }
  }
  return {seen.begin(), seen.end()};
}

RC_GTEST_PROP(GroupLaws, GroupsOfAKindPartitionTheRanks, ()) {
  const Job job = random_job();
  const RankGrid grid(job.layout, shard_of(job));
  RC_ASSERT(grid.world() == job.cluster.devices);
  for (const auto& [kind, name] : kGroupKindWords) {
    if (kind != GroupKind::kEmbedding && kind != GroupKind::kCpInner &&
        kind != GroupKind::kCpOuter) {
      RC_ASSERT(memberships(grid, kind) == std::set<int>{1});
    }
  }
}

// A message's group is as large as the group of ranks it is sent in.
RC_GTEST_PROP(GroupLaws, MessagesAndRanksAgreeOnGroupSizes, ()) {
  const Job job = random_job();
  const RankGrid grid(job.layout, shard_of(job));
  for (const Collective& message : step_collectives(job)) {
    const RankGroup group = grid.group(message.group, grid.world() - 1, message.group_size);
    const bool stage_wide = message.group == GroupKind::kWorld && job.layout.pp > 1;
    RC_ASSERT(stage_wide || group.size() == message.group_size);
  }
}

}  // namespace
}  // namespace sextant::workload
