#include "cost/comm/link_load.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sextant::cost {
namespace {

using Ranks = std::vector<std::int64_t>;

constexpr std::array kPatterns{FlowPattern::kRingGather,    FlowPattern::kRingAllReduce,
                               FlowPattern::kTreeAllReduce, FlowPattern::kDoubleTreeAllReduce,
                               FlowPattern::kAllToAll,      FlowPattern::kShift};
constexpr PerLink<BytesPerSecond> kRates{400_GBps, 50_GBps, 100_GBps};
constexpr PerLink<Seconds> kLatencies{1_us, 2_us, 3_us};

// Four hosts of two devices, two hosts a leaf.
const NetworkShape kTree{.wiring = FatTree{.hosts = 4, .devices_per_host = 2, .hosts_per_leaf = 2},
                         .rate = kRates,
                         .latency = kLatencies};
// Three hosts of two devices.
const NetworkShape kPxn{
    .wiring = Rails{.hosts = 3, .rails = 2, .pxn = true}, .rate = kRates, .latency = kLatencies};
const NetworkShape kSpine{
    .wiring = Rails{.hosts = 3, .rails = 2, .pxn = false}, .rate = kRates, .latency = kLatencies};

NetworkTime time_of(const NetworkShape& network, const std::vector<GroupTraffic>& groups) {
  return network_time(network, groups);
}

TEST(LinkLoad, OneRankCostsNothing) {
  for (const FlowPattern pattern : kPatterns) {
    const NetworkTime time = time_of(kTree, {{pattern, {3}, 1_GB}});
    EXPECT_FALSE(time.bottleneck.has_value());
    EXPECT_EQ(time.total(), 0_s);
  }
  EXPECT_EQ(time_of(kTree, {}).total(), 0_s);
}

// Devices 0 and 1 share a host: nothing leaves it. A shift moves 4 GB each way at 400 GB/s.
TEST(LinkLoad, InsideAHostOnlyScaleUpLinksAreUsed) {
  const NetworkTime time = time_of(kTree, {{FlowPattern::kShift, {0, 1}, 4_GB}});
  EXPECT_EQ(time.bottleneck, (NetworkLink{LinkClass::kScaleUp, LinkDirection::kOut, 0}));
  EXPECT_DOUBLE_EQ(time.bandwidth_term / 1_ms, 10.0);
  EXPECT_DOUBLE_EQ(time.latency_term / 1_us, 2.0);
}

// Ring of all eight devices in order: each host sends 7/8 of 8 GB, once: 7 GB / 50 GB/s.
// Hops: four inside hosts (2 µs), two between hosts of a leaf (4 µs), two over the spine (10 µs);
// 36 µs · 7/8.
TEST(LinkLoad, ARingLoadsEachNicOnce) {
  const NetworkTime time =
      time_of(kTree, {{FlowPattern::kRingGather, {0, 1, 2, 3, 4, 5, 6, 7}, 8_GB}});
  EXPECT_EQ(time.bottleneck, (NetworkLink{LinkClass::kNic, LinkDirection::kOut, 0}));
  EXPECT_DOUBLE_EQ(time.load / 1_GB, 7.0);
  EXPECT_DOUBLE_EQ(time.bandwidth_term / 1_s, 0.14);
  EXPECT_DOUBLE_EQ(time.latency_term / 1_us, 31.5);
}

// The same ring in an order that leaves the leaf at each step: 0 4 2 6 … sends from every device to
// the other leaf, so a leaf's uplink carries four flows and a NIC two.
TEST(LinkLoad, ABadRingOrderLoadsTheSpine) {
  const std::vector<GroupTraffic> groups{
      {FlowPattern::kRingAllReduce, {0, 4, 2, 6, 1, 5, 3, 7}, 8_GB}};
  const LinkLoads loads = link_loads(kTree, groups);
  EXPECT_DOUBLE_EQ(loads.at({LinkClass::kUplink, LinkDirection::kIn, 1}) / 1_GB, 4 * 14.0);
  EXPECT_DOUBLE_EQ(loads.at({LinkClass::kNic, LinkDirection::kOut, 2}) / 1_GB, 2 * 14.0);
  EXPECT_EQ(loads.at({LinkClass::kScaleUp, LinkDirection::kOut, 0}), 0_B);
}

// One device a host. An inner node of the single tree sends its sum up and the result to two
// children: 3 S. Of a pair of trees each rank is inside one and a leaf of the other: 4 · S/2.
TEST(LinkLoad, TwoTreesLoadALinkWithTwoThirdsOfOne) {
  const NetworkShape star{
      .wiring = FatTree{.hosts = 16, .hosts_per_leaf = 16}, .rate = kRates, .latency = kLatencies};
  Ranks all(16);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_DOUBLE_EQ(time_of(star, {{FlowPattern::kTreeAllReduce, all, 1_GB}}).load / 1_GB, 3.0);
  EXPECT_DOUBLE_EQ(time_of(star, {{FlowPattern::kDoubleTreeAllReduce, all, 1_GB}}).load / 1_GB,
                   2.0);
}

// Two hosts of two rails. A device sends a quarter of 4 GB to each of four. Without PXN one message
// leaves on its own rail and one crosses the spine; with PXN the latter leaves over the neighbour:
// a NIC carries two either way.
TEST(LinkLoad, PxnKeepsAllToAllOffTheSpine) {
  const std::vector<GroupTraffic> groups{{FlowPattern::kAllToAll, {0, 1, 2, 3}, 4_GB}};
  const LinkLoads relayed = link_loads(kPxn, groups);
  const LinkLoads crossed = link_loads(kSpine, groups);
  for (const LinkLoads* loads : {&relayed, &crossed}) {
    EXPECT_DOUBLE_EQ(loads->at({LinkClass::kNic, LinkDirection::kOut, 1}) / 1_GB, 2.0);
    EXPECT_DOUBLE_EQ(loads->at({LinkClass::kNic, LinkDirection::kIn, 2}) / 1_GB, 2.0);
  }
  EXPECT_EQ(relayed.at({LinkClass::kUplink, LinkDirection::kOut, 0}), 0_B);
  EXPECT_DOUBLE_EQ(crossed.at({LinkClass::kUplink, LinkDirection::kOut, 0}) / 1_GB, 2.0);
  EXPECT_DOUBLE_EQ(relayed.at({LinkClass::kScaleUp, LinkDirection::kOut, 0}) / 1_GB, 2.0);
  EXPECT_DOUBLE_EQ(crossed.at({LinkClass::kScaleUp, LinkDirection::kOut, 0}) / 1_GB, 1.0);
}

// The published case: two data-parallel rings, one for each device of the hosts, over one NIC a
// host. With rails each ring has NICs of its own.
TEST(ShareOfNic, TwoRingsOverTheSameNicsGetHalfEach) {
  const std::vector<GroupTraffic> groups{{FlowPattern::kRingAllReduce, {0, 2, 4}, 1_GB},
                                         {FlowPattern::kRingAllReduce, {1, 3, 5}, 5_GB}};
  EXPECT_DOUBLE_EQ(share_of_nic(kTree, groups, 0), 0.5);
  EXPECT_DOUBLE_EQ(share_of_nic(kTree, groups, 1), 0.5);
  EXPECT_DOUBLE_EQ(share_of_nic(kPxn, groups, 0), 1.0);
}

// Beside an all-to-all with four flows out of host 0, a ring has one of five.
TEST(ShareOfNic, GoesByFlows) {
  const std::vector<GroupTraffic> groups{{FlowPattern::kRingAllReduce, {0, 2, 4}, 1_GB},
                                         {FlowPattern::kAllToAll, {0, 1, 2, 3}, 1_GB},
                                         {FlowPattern::kShift, {0, 1}, 1_GB}};
  EXPECT_DOUBLE_EQ(share_of_nic(kTree, groups, 0), 0.2);
  EXPECT_DOUBLE_EQ(share_of_nic(kTree, groups, 1), 0.8);
  EXPECT_DOUBLE_EQ(share_of_nic(kTree, groups, 2), 1.0);
}

// Steps from a member to the root.
int depth(std::int64_t member, std::int64_t size, bool second) {
  int steps = 0;
  for (auto at = tree_parent(member, size, second); at; at = tree_parent(*at, size, second)) {
    ++steps;
  }
  return steps;
}

std::vector<int> children_of_each(std::int64_t size, bool second) {
  std::vector<int> children(static_cast<std::size_t>(size), 0);
  for (std::int64_t member = 0; member < size; ++member) {
    if (const auto parent = tree_parent(member, size, second)) {
      ++children[static_cast<std::size_t>(*parent)];
    }
  }
  return children;
}

TEST(TreeParent, TreesAreBinaryAndNoDeeperThanTheyMust) {
  for (std::int64_t size = 2; size < 40; ++size) {
    for (const bool second : {false, true}) {
      const std::vector<int> children = children_of_each(size, second);
      EXPECT_LE(*std::max_element(children.begin(), children.end()), 2);
      for (std::int64_t member = 0; member < size; ++member) {
        EXPECT_LE(depth(member, size, second), 6);  // 40 < 2^6
      }
    }
  }
}

// Odd sizes: all but one rank.
TEST(TreeParent, ARankIsAnInnerNodeOfOneTreeOnly) {
  for (std::int64_t size = 2; size < 40; ++size) {
    const std::vector<int> first = children_of_each(size, false);
    const std::vector<int> second = children_of_each(size, true);
    std::int64_t both = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      both += first[i] > 0 && second[i] > 0 ? 1 : 0;
    }
    EXPECT_LE(both, size % 2) << size;
  }
}

PerLink<BytesPerSecond> random_rates() {
  const auto rate = [] { return BytesPerSecond(1e9 * *rc::gen::inRange(1, 1000)); };
  return {rate(), rate(), rate()};
}

NetworkShape random_network() {
  const std::int64_t hosts = *rc::gen::inRange<std::int64_t>(1, 9);
  const std::int64_t devices = *rc::gen::inRange<std::int64_t>(1, 5);
  if (*rc::gen::arbitrary<bool>()) {
    return {Rails{hosts, devices, *rc::gen::arbitrary<bool>()}, random_rates(), kLatencies};
  }
  const std::int64_t leaf = *rc::gen::inRange<std::int64_t>(1, 4);
  return {FatTree{hosts, devices, leaf}, random_rates(), kLatencies};
}

std::int64_t devices_of(const NetworkShape& network) {
  return static_cast<std::int64_t>(
      LinkLoads(network).of(LinkClass::kScaleUp, LinkDirection::kOut).size());
}

// Some of the devices from `first` up to `end`, in any order.
GroupTraffic random_group(std::int64_t first, std::int64_t end) {
  Ranks pool(static_cast<std::size_t>(end - first));
  std::iota(pool.begin(), pool.end(), first);
  GroupTraffic group{
      .pattern = *rc::gen::elementOf(std::vector(kPatterns.begin(), kPatterns.end())),
      .ranks = {},
      .bytes = Bytes(*rc::gen::inRange(1, 1'000'000))};
  for (auto left = *rc::gen::inRange<std::size_t>(0, pool.size() + 1); left > 0; --left) {
    const auto taken = pool.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(pool));
    group.ranks.push_back(*taken);
    pool.erase(taken);
  }
  return group;
}

GroupTraffic random_group(const NetworkShape& network) {
  return random_group(0, devices_of(network));
}

std::vector<GroupTraffic> random_groups(const NetworkShape& network) {
  std::vector<GroupTraffic> groups;
  for (int left = *rc::gen::inRange(1, 4); left > 0; --left) {
    groups.push_back(random_group(network));
  }
  return groups;
}

bool nearly(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
}

RC_GTEST_PROP(LinkLoadLaws, MoreBytesAreNeverFaster, ()) {
  const NetworkShape network = random_network();
  std::vector<GroupTraffic> groups = random_groups(network);
  const NetworkTime before = network_time(network, groups);
  groups[0].bytes += Bytes(*rc::gen::inRange(1, 1'000'000));
  const NetworkTime after = network_time(network, groups);
  RC_ASSERT(after.bandwidth_term >= before.bandwidth_term);
  RC_ASSERT(after.latency_term == before.latency_term);
}

RC_GTEST_PROP(LinkLoadLaws, AFasterLinkIsNeverSlower, ()) {
  NetworkShape network = random_network();
  const std::vector<GroupTraffic> groups = random_groups(network);
  const Seconds before = network_time(network, groups).total();
  **rc::gen::element(&network.rate.scale_up, &network.rate.nic, &network.rate.uplink) *= 1.5;
  RC_ASSERT(network_time(network, groups).total() <= before);
}

RC_GTEST_PROP(LinkLoadLaws, TwiceTheSameGroupTakesTwiceAsLong, ()) {
  const NetworkShape network = random_network();
  const GroupTraffic group = random_group(network);
  const NetworkTime once = time_of(network, {group});
  const NetworkTime twice = time_of(network, {group, group});
  RC_ASSERT(nearly(twice.bandwidth_term.base(), 2 * once.bandwidth_term.base()));
  RC_ASSERT(twice.latency_term == once.latency_term);
}

std::vector<Bytes> all_loads(const LinkLoads& loads) {
  std::vector<Bytes> all;
  for (const LinkClass kind : {LinkClass::kScaleUp, LinkClass::kNic, LinkClass::kUplink}) {
    for (const LinkDirection direction : {LinkDirection::kOut, LinkDirection::kIn}) {
      const std::span<const Bytes> some = loads.of(kind, direction);
      all.insert(all.end(), some.begin(), some.end());
    }
  }
  return all;
}

RC_GTEST_PROP(LinkLoadLaws, GroupsOnDisjointLinksDoNotDisturbEachOther, ()) {
  const NetworkShape network = random_network();
  const std::int64_t middle = devices_of(network) / 2;
  const std::vector<GroupTraffic> groups{random_group(0, middle),
                                         random_group(middle, devices_of(network))};
  const std::vector<Bytes> first = all_loads(link_loads(network, std::span(groups).first(1)));
  const std::vector<Bytes> second = all_loads(link_loads(network, std::span(groups).last(1)));
  for (std::size_t i = 0; i < first.size(); ++i) {
    RC_PRE(first[i] == 0_B || second[i] == 0_B);
  }
  const Seconds apart = std::max(time_of(network, {groups[0]}).bandwidth_term,
                                 time_of(network, {groups[1]}).bandwidth_term);
  RC_ASSERT(network_time(network, groups).bandwidth_term == apart);
  RC_ASSERT(share_of_nic(network, groups, 0) == 1.0);
}

LinkLoads listed_pairs(const NetworkShape& network, const Ranks& ranks, Bytes message) {
  LinkLoads loads(network);
  for (const std::int64_t from : ranks) {
    for (const std::int64_t to : ranks) {
      const LinkRoute pair = from == to ? LinkRoute{} : link_route(network, from, to);
      for (const NetworkLink& link : pair.crossed()) {
        loads.add(link, message);
      }
    }
  }
  return loads;
}

RC_GTEST_PROP(LinkLoadLaws, CountedPairsAreListedPairs, ()) {
  const NetworkShape network = random_network();
  const Ranks ranks = random_group(network).ranks;
  LinkLoads counts(network);
  add_all_pairs(counts, network, ranks, 1_KB);
  const std::vector<Bytes> counted = all_loads(counts);
  const std::vector<Bytes> listed = all_loads(listed_pairs(network, ranks, 1_KB));
  for (std::size_t i = 0; i < listed.size(); ++i) {
    RC_ASSERT(nearly(listed[i].base(), counted[i].base()));
  }
}

}  // namespace
}  // namespace sextant::cost
