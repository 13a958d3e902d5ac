// Pipeline ranks priced once a place against each priced by itself.
#include "step/pipeline_places.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "step/message_time.h"
#include "step/step_costs.h"
#include "step/testing.h"
#include "workload/traffic.h"

namespace sextant::step {
namespace {

using describe::Axis;

constexpr std::array<Axis, 5> kPipelineBeforeData{Axis::kTp, Axis::kCp, Axis::kEp, Axis::kPp,
                                                  Axis::kDp};

struct Shape {
  std::int64_t tp = 1;
  std::int64_t dp = 1;
  std::int64_t pp = 1;
  std::int64_t domain = 8;
  std::array<Axis, 5> order = describe::Layout{}.order;
};

PipelinePlaces places_of(const Shape& shape) {
  describe::Layout layout;
  layout.order = shape.order;
  workload::Shard shard;
  shard.tp = shape.tp;
  shard.dp = shape.dp;
  shard.pp = shape.pp;
  shard.etp = shape.tp;
  shard.expert_dp = shape.dp;
  return pipeline_places(workload::RankGrid(layout, shard), shape.pp, shape.domain);
}

TEST(PipelinePlaces, AreOneInOneDomainAndWholeDomainsApart) {
  EXPECT_TRUE(places_of({.tp = 2, .pp = 1}).all_alike(1));
  EXPECT_TRUE(places_of({.tp = 2, .pp = 4}).all_alike(4));           // 8 of 8
  EXPECT_TRUE(places_of({.tp = 8, .dp = 3, .pp = 4}).all_alike(4));  // 24 apart
  EXPECT_FALSE(places_of({.tp = 4, .pp = 4}).all_alike(4));          // 0, 4 | 0, 4
}

// Starts 0, 4, 8 | 0, …: a stride of 16 in domains of 12 repeats after 12 / 4 = 3 ranks.
TEST(PipelinePlaces, RepeatWithTheDomain) {
  const PipelinePlaces places = places_of({.tp = 4, .dp = 4, .pp = 9, .domain = 12});
  EXPECT_EQ(places.period, 3);
  EXPECT_EQ(places.place_of(4), 1);
  EXPECT_EQ(places.place_of(5), 2);
  EXPECT_EQ(places.place_of(8),
            2);  // 144 ranks fill 12 domains; 8 · 16 = 128 is far from 0 and 144
}

// Starts 0, 2, 4, 6 | 8, 10, two such pipelines in three domains of 8: the second's next rank is
// in its domain; the last starts like it and sends to the first, which is not.
TEST(PipelinePlaces, TheLastSendsToTheFirst) {
  const PipelinePlaces places =
      places_of({.tp = 2, .dp = 2, .pp = 6, .order = kPipelineBeforeData});
  EXPECT_EQ(places.period, 4);
  EXPECT_EQ(places.place_of(4), 0);
  EXPECT_EQ(places.place_of(5), 5);
  EXPECT_EQ(places_of({.tp = 4, .pp = 4}).tail, 4);  // 0, 4 | 8, 12: far from both
}

// 20 ranks in domains of 8: those from rank 16 on have a smaller domain around them.
TEST(PipelinePlaces, ALastDomainThatIsNotFullIsAnother) {
  const PipelinePlaces places = places_of({.tp = 2, .pp = 10});
  EXPECT_EQ(places.tail, 8);
  EXPECT_EQ(places.place_of(7), 3);
  EXPECT_EQ(places.place_of(8), 8);
}

// Where experts divide the ranks so that pipeline ranks stand apart among them, none are alike:
// tp-cp-ep-pp-dp with tp 2 beside etp 1 and ep 8.
TEST(PipelinePlaces, ExpertsMayTellRanksApart) {
  describe::Layout layout;
  layout.order = kPipelineBeforeData;
  workload::Shard shard;
  shard.tp = 2;
  shard.dp = 8;
  shard.pp = 4;
  shard.ep = 8;
  shard.expert_dp = 2;
  const PipelinePlaces places = pipeline_places(workload::RankGrid(layout, shard), 4, 8);
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(places.place_of(rank), rank);
  }
}

// Deep pipelines over domains of any size.
describe::Job deep_job() {
  describe::Job job = workload::random_job();
  job.layout.pp = *rc::gen::element<std::int64_t>(2, 4, 6, 8, 12, 16);
  job.layout.vpp = *rc::gen::element<std::int64_t>(1, 1, 2);
  job.layout.schedule =
      job.layout.vpp == 1
          ? describe::Schedule::k1f1b
          : *rc::gen::element(describe::Schedule::kInterleaved1f1b, describe::Schedule::kZbv);
  job.layout.order = *rc::gen::element(describe::Layout{}.order, kPipelineBeforeData);
  job.cluster.devices = job.layout.tp * job.layout.cp * job.layout.pp *
                        *rc::gen::element<std::int64_t>(1, 2, 3, 4, 6, 8);
  job.layout.split = describe::plausible_split(job.model.layer_count(), job.layout.stages());
  job.global_batch = std::max<std::int64_t>(job.dp(), 1) * job.layout.mbs * 16;
  RC_PRE(describe::check_rules(job).empty());
  return job;
}

StepModel any_domains() {
  StepModel machine = any_machine();
  machine.domain_size = *rc::gen::element<std::int64_t>(4, 6, 8, 12, 20, 72);
  return machine;
}

// To the last bit: every message of every stage, from the rank it is of and from its place's first.
RC_GTEST_PROP(PipelinePlaces, MessagesTakeAsLongFromAllRanksOfAPlace, ()) {
  const describe::Job job = deep_job();
  const StepModel machine = any_domains();
  const workload::Shard shard = workload::shard_of(job);
  const workload::RankGrid grid(job.layout, shard);
  const PipelinePlaces places = pipeline_places(grid, shard.pp, machine.domain_size);
  MessagePricer own = message_pricer(job, shard, grid, 0, machine);
  MessagePricer first = own;
  for (const workload::Stage& stage : workload::stages_of(job)) {
    own.rank = grid.on_pipeline_rank(0, stage.pipeline_rank);
    first.rank = grid.on_pipeline_rank(0, places.place_of(stage.pipeline_rank));
    for (const workload::Collective& message : workload::step_collectives(job, stage, shard)) {
      RC_ASSERT(own.once(message) == first.once(message));
    }
  }
}

bool same_costs(const AxisTimes& a, const AxisTimes& b) {
  return a.times == b.times;
}

bool same_costs(const PassCost& a, const PassCost& b) {
  return a.compute == b.compute && a.host == b.host && a.tail == b.tail && a.slowed == b.slowed &&
         same_costs(a.exposed, b.exposed) && same_costs(a.hidden, b.hidden);
}

bool same_costs(const StageCost& a, const StageCost& b) {
  return same_costs(a.forward, b.forward) && same_costs(a.backward, b.backward) &&
         a.send_forward == b.send_forward && a.send_backward == b.send_backward &&
         same_costs(a.reduced, b.reduced) && a.reduced_last == b.reduced_last &&
         same_costs(a.reduced_bare, b.reduced_bare) && same_costs(a.gathered, b.gathered) &&
         same_costs(a.gathered_bare, b.gathered_bare) &&
         same_costs(a.around_update, b.around_update);
}

// The same of whole steps.
RC_GTEST_PROP(PipelinePlaces, StepsAreThoseOfRanksPricedOneByOne, ()) {
  const describe::Job job = deep_job();
  const StepModel machine = any_domains();
  StepCosts costs(job, machine);
  StepCosts each(job, machine, {.keep = {}, .every_rank = true});
  const StepTerms some = costs.terms(job.layout);
  const StepTerms all = each.terms(job.layout);
  RC_ASSERT(some.step == all.step);
  RC_ASSERT(some.compute == all.compute);
  RC_ASSERT(some.bubble == all.bubble);
  RC_ASSERT(some.slowest_rank == all.slowest_rank);
  RC_ASSERT(same_costs(some.exposed, all.exposed));
  RC_ASSERT(same_costs(some.hidden, all.hidden));
  const std::vector<StageCost> listed = costs.stages();
  const std::vector<StageCost> one_by_one = each.stages();
  RC_ASSERT(listed.size() == one_by_one.size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    RC_ASSERT(same_costs(listed[i], one_by_one[i]));
  }
}

}  // namespace
}  // namespace sextant::step
