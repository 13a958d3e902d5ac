#include "cost/comm/collective_time.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cost/comm/group_shape.h"
#include "cost/comm/torus_time.h"
#include "workload/wire.h"

namespace sextant::cost {
namespace {

using describe::CollectiveOp;
using describe::LinkKey;
using describe::NetworkKey;

constexpr std::array kOps{CollectiveOp::kAllReduce,     CollectiveOp::kAllGather,
                          CollectiveOp::kReduceScatter, CollectiveOp::kAllToAll,
                          CollectiveOp::kSendReceive,   CollectiveOp::kBroadcast};

CommModel comm_model_of(const char* link, const char* network, BytesPerSecond nic) {
  const describe::DataStore data;
  const auto links = describe::load_link_facts(link, data);
  const auto nets = describe::load_network_facts(network, data);
  EXPECT_TRUE(links) << to_text(links.error());
  EXPECT_TRUE(nets) << to_text(nets.error());
  return comm_model(*links, std::nullopt, *nets, nic);
}

CommModel hopper_comm() {
  return comm_model_of("nvlink4", "ib", 50_GBps);
}

GroupShape any_group() {
  const auto per_domain = *rc::gen::inRange<std::int64_t>(1, 73);
  const auto domains = *rc::gen::inRange<std::int64_t>(1, 200);
  return {per_domain * domains, domains, per_domain, *rc::gen::inRange<std::int64_t>(1, 9)};
}

CollectiveOp any_op() {
  return kOps[*rc::gen::inRange<std::size_t>(0, kOps.size())];
}

Bytes any_bytes() {
  return Bytes(static_cast<double>(*rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 36)));
}

RC_GTEST_PROP(CollectiveTime, MoreBytesAreNeverFaster, ()) {
  const CommModel model = hopper_comm();
  const GroupShape group = any_group();
  const CommLines lines = comm_lines(any_op(), group, model);
  const Bytes less = any_bytes();
  const Bytes more = less + any_bytes();
  RC_ASSERT(lines.time(less) <= lines.time(more));
}

RC_GTEST_PROP(CollectiveTime, AFasterLinkIsNeverSlower, ()) {
  const CommModel model = hopper_comm();
  CommModel faster = model;
  faster.nic_rate *= 1.0 + *rc::gen::inRange(0, 100) / 20.0;
  for (std::size_t i = 0; i < faster.link.size(); ++i) {
    if (describe::kLinkKeys[i].unit == describe::CommUnit::kRate) {
      faster.link[i] *= 1.0 + *rc::gen::inRange(0, 100) / 20.0;
    }
  }
  const GroupShape group = any_group();
  const CollectiveOp op = any_op();
  const Bytes bytes = any_bytes();
  RC_ASSERT(collective_time(op, bytes, group, faster) <=
            collective_time(op, bytes, group, model) * (1.0 + 1e-12));
}

RC_GTEST_PROP(CollectiveTime, TheChoiceIsTheLeastOfItsCandidates, ()) {
  const CommLines lines = comm_lines(any_op(), any_group(), hopper_comm());
  const Bytes bytes = any_bytes();
  const CommTerms best = lines.best(bytes);
  if (lines.count() == 0) {
    RC_ASSERT(lines.time(bytes) == Seconds());
    return;
  }
  Seconds least = best.total();
  for (int i = 0; i < lines.count(); ++i) {
    CommLines one;
    one.add(lines.line(i));
    least = std::min(least, one.time(bytes));
  }
  RC_ASSERT(lines.time(bytes) == least);
  RC_ASSERT(std::abs(best.total() / least - 1.0) < 1e-12);
  RC_ASSERT(best.latency >= Seconds() && best.transfer > Seconds() && best.fill >= Seconds());
}

RC_GTEST_PROP(CollectiveTime, SharedNicsAreNeverFaster, ()) {
  GroupShape group = any_group();
  const CollectiveOp op = any_op();
  const Bytes bytes = any_bytes();
  const Seconds alone = collective_time(op, bytes, group, hopper_comm());
  ++group.sharing;
  RC_ASSERT(collective_time(op, bytes, group, hopper_comm()) >= alone);
}

TEST(CollectiveTime, OneRankCostsNothing) {
  for (const CollectiveOp op : kOps) {
    EXPECT_EQ(collective_time(op, 1_GiB, {1, 1, 1, 1}, hopper_comm()), Seconds());
  }
}

TEST(CollectiveTime, LargeMessagesRunAtTheRateOfTheirLink) {
  const CommModel model = hopper_comm();
  const Bytes bytes = 1024_GiB;
  const Seconds gather = collective_time(CollectiveOp::kAllGather, bytes, {8, 1, 8, 1}, model);
  EXPECT_NEAR(bus_bandwidth(CollectiveOp::kAllGather, bytes, 8, gather).base(),
              model[LinkKey::kAllGather8], 0.02 * model[LinkKey::kAllGather8]);
  // Over two nodes a ring is bound by their NICs, an all-reduce tree by the switches inside.
  const double nics = 8.0 * model.nic_rate;
  const Seconds across = collective_time(CollectiveOp::kAllGather, bytes, {16, 2, 8, 1}, model);
  EXPECT_NEAR(bus_bandwidth(CollectiveOp::kAllGather, bytes, 16, across).base(),
              nics * model[NetworkKey::kRingShare], 0.02 * nics);
  const CommTerms two = comm_lines(CollectiveOp::kAllReduce, {16, 2, 8, 1}, model).best(bytes);
  EXPECT_EQ(two.algorithm, CommAlgorithm::kTree);
  EXPECT_EQ(two.limit, CommLink::kScaleUp);
  EXPECT_GT(bus_bandwidth(CollectiveOp::kAllReduce, bytes, 16, two.total()).base(), nics);
  // From three nodes on all-reduces gain nothing like that.
  const Seconds many = collective_time(CollectiveOp::kAllReduce, bytes, {64, 8, 8, 1}, model);
  EXPECT_LT(bus_bandwidth(CollectiveOp::kAllReduce, bytes, 64, many).base(), 1.15 * nics);
}

TEST(CollectiveTime, SmallAllReducesAvoidRings) {
  const CommLines lines = comm_lines(CollectiveOp::kAllReduce, {1024, 128, 8, 1}, hopper_comm());
  EXPECT_EQ(lines.best(1_KiB).algorithm, CommAlgorithm::kTree);
  EXPECT_EQ(lines.best(1_KiB).protocol, CommProtocol::kLowLatency);
  const CommLines gather = comm_lines(CollectiveOp::kAllGather, {1024, 128, 8, 1}, hopper_comm());
  EXPECT_EQ(gather.best(1_KiB).algorithm, CommAlgorithm::kRing);
}

// Links and network that take these times for a hop, and nothing else for anything.
CommModel hops_of(Seconds link, Seconds network) {
  CommModel model = hopper_comm();
  for (std::size_t i = 0; i < model.link.size(); ++i) {
    if (describe::kLinkKeys[i].unit == describe::CommUnit::kTime) {
      model.link[i] = 0.0;
    }
  }
  for (const LinkKey key : {LinkKey::kHop, LinkKey::kLlHop}) {
    model.link[static_cast<std::size_t>(key)] = link.base();
  }
  for (const NetworkKey key : {NetworkKey::kHop, NetworkKey::kLlHop}) {
    model.network[static_cast<std::size_t>(key)] = network.base();
  }
  model.added_delay = 0.0;
  return model;
}

// The chain inside a host is gone down and up again: its 8 ranks are 7 hops each way, of a rack's
// 64 ranks 8 stand for it. The tree across 16 hosts is 4 levels, up and down.
TEST(CollectiveTime, ATreeGoesUpAndDown) {
  const auto hops = [](const GroupShape& group, const CommModel& model) {
    CommLines trees = comm_lines(CollectiveOp::kAllReduce, group, model);
    trees.keep(CommAlgorithm::kTree);
    EXPECT_EQ(trees.count(), 2);
    for (int i = 0; i < trees.count(); ++i) {
      EXPECT_DOUBLE_EQ(trees.line(i).latency, trees.line(0).latency);
    }
    return trees.line(0).latency * 1e6;
  };
  const CommModel inside = hops_of(1_us, 0_us);
  EXPECT_DOUBLE_EQ(hops({128, 16, 8, 1}, inside), 14.0);
  EXPECT_DOUBLE_EQ(hops({8, 4, 2, 1}, inside), 2.0);
  EXPECT_DOUBLE_EQ(hops({128, 2, 64, 1}, inside), 14.0);
  EXPECT_DOUBLE_EQ(hops({16, 16, 1, 1}, inside), 0.0);
  EXPECT_DOUBLE_EQ(hops({128, 16, 8, 1}, hops_of(0_us, 1_us)), 8.0);
}

TEST(CollectiveTime, ASwitchReducesFromFiveRanksOn) {
  EXPECT_EQ(comm_lines(CollectiveOp::kAllReduce, {8, 1, 8, 1}, hopper_comm()).best(1_GiB).algorithm,
            CommAlgorithm::kSwitch);
  EXPECT_EQ(comm_lines(CollectiveOp::kAllReduce, {4, 1, 4, 1}, hopper_comm()).best(1_GiB).algorithm,
            CommAlgorithm::kRing);
  CommLines off = comm_lines(CollectiveOp::kAllReduce, {8, 1, 8, 1}, hopper_comm());
  off.drop(CommAlgorithm::kSwitch);
  EXPECT_EQ(off.best(1_GiB).algorithm, CommAlgorithm::kRing);
}

TEST(CollectiveTime, SharpHalvesWhatLeavesANode) {
  CommModel model = hopper_comm();
  const GroupShape many{256, 32, 8, 1};
  const Seconds without = collective_time(CollectiveOp::kAllReduce, 8_GiB, many, model);
  model.network[static_cast<std::size_t>(NetworkKey::kReducing)] = 0.95;
  const CommTerms terms = comm_lines(CollectiveOp::kAllReduce, many, model).best(8_GiB);
  EXPECT_EQ(terms.algorithm, CommAlgorithm::kCollnet);
  EXPECT_LT(terms.total(), without);
}

TEST(CollectiveTime, ARackIsOneDomain) {
  const CommModel rack = comm_model_of("nvlink5", "ib", 50_GBps);
  const Seconds inside = collective_time(CollectiveOp::kAllGather, 4_GiB, {64, 1, 64, 1}, rack);
  const Seconds hosts = collective_time(CollectiveOp::kAllGather, 4_GiB, {64, 16, 4, 1}, rack);
  EXPECT_LT(inside * 2.0, hosts);
}

TEST(CollectiveTime, HierarchicalPartsAddUp) {
  const CommModel model = hopper_comm();
  const HierarchicalTerms terms = hierarchical_all_reduce(1_GiB, {64, 8, 8, 1}, model);
  EXPECT_EQ(terms.total(), terms.scatter + terms.across + terms.gather);
  EXPECT_EQ(terms.scatter,
            collective_time(CollectiveOp::kReduceScatter, 1_GiB, {8, 1, 8, 1}, model));
}

TEST(TorusTime, FollowsTheRingsOfItsAxes) {
  const TorusLinks links{90_GBps, 1_us};
  const std::array<TorusAxis, 3> ring{{{16, true}, {}, {}}};
  const TorusTerms gather = torus_time(CollectiveOp::kAllGather, 16_GiB, ring, links);
  EXPECT_DOUBLE_EQ(gather.transfer.base(), (16_GiB * (15.0 / 16.0) / 180_GBps).base());
  EXPECT_DOUBLE_EQ(gather.hops.base(), (8_us).base());
  EXPECT_DOUBLE_EQ(torus_time(CollectiveOp::kAllReduce, 16_GiB, ring, links).transfer.base(),
                   2.0 * gather.transfer.base());
  // A quarter of the time that gathering the same array takes, as the source says: 1 GiB a chip.
  EXPECT_NEAR(torus_time(CollectiveOp::kAllToAll, 1_GiB, ring, links).transfer / gather.transfer,
              0.25 * 16.0 / 15.0, 1e-12);
  const std::array<TorusAxis, 3> plane{{{16, true}, {16, true}, {}}};
  EXPECT_LT(torus_time(CollectiveOp::kAllGather, 16_GiB, plane, links).transfer, gather.transfer);
  EXPECT_EQ(torus_time(CollectiveOp::kAllGather, 16_GiB, {}, links).total(), Seconds());
}

}  // namespace
}  // namespace sextant::cost
