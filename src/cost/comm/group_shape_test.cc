#include "cost/comm/group_shape.h"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "describe/layout/pipeline_split.h"
#include "workload/traffic_testing.h"

namespace sextant::cost {
namespace {

using workload::GroupKind;

GroupShape shape_of(const describe::Job& job, GroupKind kind, std::int64_t domain) {
  const workload::RankGrid grid(job.layout, workload::shard_of(job, job.layout));
  return group_shape(grid.group(kind, 0), domain);
}

TEST(GroupShape, FollowsTheRankOrder) {
  describe::Job job = workload::traffic_job(workload::llama(4, 1024, 8), 64);
  job.layout.tp = 4;
  job.layout.pp = 2;
  const GroupShape tp = shape_of(job, GroupKind::kTp, 8);
  EXPECT_EQ(tp.ranks, 4);
  EXPECT_EQ(tp.domains, 1);
  // dp steps over tp: two of its ranks share a host of eight.
  const GroupShape dp = shape_of(job, GroupKind::kDp, 8);
  EXPECT_EQ(dp.ranks, 8);
  EXPECT_EQ(dp.per_domain, 2);
  EXPECT_EQ(dp.domains, 4);
  const GroupShape pp = shape_of(job, GroupKind::kPipeline, 8);
  EXPECT_EQ(pp.per_domain, 1);
  EXPECT_EQ(pp.domains, 2);
  // One rack holds them all.
  EXPECT_EQ(shape_of(job, GroupKind::kDp, 72).domains, 1);
}

RC_GTEST_PROP(GroupShape, CountsAsAListWould, ()) {
  const std::int64_t tp = std::int64_t{1} << *rc::gen::inRange(0, 4);
  const std::int64_t pp = std::int64_t{1} << *rc::gen::inRange(0, 3);
  describe::Job job = workload::traffic_job(workload::llama(8, 1024, 16), 64 * tp * pp);
  job.layout.tp = tp;
  job.layout.pp = pp;
  const auto kind = *rc::gen::element(GroupKind::kTp, GroupKind::kDp, GroupKind::kPipeline,
                                      GroupKind::kModel, GroupKind::kWorld);
  const std::int64_t domain = std::int64_t{1} << *rc::gen::inRange(0, 7);
  std::set<std::int64_t> domains;
  std::int64_t own = 0;
  for (const std::int64_t rank : workload::group_ranks(job, kind, 0)) {
    domains.insert(rank / domain);
    own += rank / domain == 0 ? 1 : 0;
  }
  const GroupShape shape = shape_of(job, kind, domain);
  RC_ASSERT(shape.per_domain == own);
  RC_ASSERT(shape.domains == static_cast<std::int64_t>(domains.size()));
}

}  // namespace
}  // namespace sextant::cost
