#include "cost/comm/link_load.h"

#include <algorithm>
#include <cassert>

#include "base/integers.h"

namespace sextant::cost {
namespace {

constexpr std::array kClasses{LinkClass::kScaleUp, LinkClass::kNic, LinkClass::kUplink};
constexpr std::array kDirections{LinkDirection::kOut, LinkDirection::kIn};

Seconds hop_latency(const NetworkShape& network, std::int64_t from, std::int64_t to) {
  const LinkRoute hop = link_route(network, from, to);
  Seconds sum;
  for (const NetworkLink& link : hop.crossed()) {
    sum += of_class(network.latency, link.kind);
  }
  return sum;
}

std::int64_t members(const GroupTraffic& group) {
  return static_cast<std::int64_t>(group.ranks.size());
}

// The rank at a place in the group, counted round and round.
std::int64_t rank_at(const GroupTraffic& group, std::int64_t place) {
  return group.ranks[static_cast<std::size_t>(place % members(group))];
}

// All flows of a pattern are equally large.
Bytes flow_bytes(const GroupTraffic& group) {
  const double n = as_double(members(group));
  switch (group.pattern) {
    case FlowPattern::kRingGather:
      return group.bytes * ((n - 1) / n);
    case FlowPattern::kRingAllReduce:
      return group.bytes * (2 * (n - 1) / n);
    case FlowPattern::kDoubleTreeAllReduce:
      return group.bytes / 2;
    case FlowPattern::kAllToAll:
      return group.bytes / n;
    case FlowPattern::kTreeAllReduce:
    case FlowPattern::kShift:
      break;
  }
  return group.bytes;
}

void add_flow(LinkLoads& loads, const LinkRoute& path, Bytes bytes) {
  for (const NetworkLink& link : path.crossed()) {
    loads.add(link, bytes);
  }
}

void add_tree(LinkLoads& loads, const NetworkShape& network, const GroupTraffic& group, bool second,
              Bytes bytes) {
  for (std::int64_t i = 0; i < members(group); ++i) {
    if (const auto parent = tree_parent(i, members(group), second)) {
      add_flow(loads, link_route(network, rank_at(group, i), rank_at(group, *parent)), bytes);
      add_flow(loads, link_route(network, rank_at(group, *parent), rank_at(group, i)), bytes);
    }
  }
}

// Every flow of the group, each with so many bytes.
void add_flows(LinkLoads& loads, const NetworkShape& network, const GroupTraffic& group,
               Bytes bytes) {
  if (members(group) < 2) {
    return;
  }
  switch (group.pattern) {
    case FlowPattern::kTreeAllReduce:
    case FlowPattern::kDoubleTreeAllReduce:
      add_tree(loads, network, group, false, bytes);
      if (group.pattern == FlowPattern::kDoubleTreeAllReduce) {
        add_tree(loads, network, group, true, bytes);
      }
      return;
    case FlowPattern::kAllToAll:
      add_all_pairs(loads, network, group.ranks, bytes);
      return;
    case FlowPattern::kRingGather:
    case FlowPattern::kRingAllReduce:
    case FlowPattern::kShift:
      for (std::int64_t i = 0; i < members(group); ++i) {
        add_flow(loads, link_route(network, rank_at(group, i), rank_at(group, i + 1)), bytes);
      }
  }
}

// From the farthest member up to the root.
Seconds climb_latency(const NetworkShape& network, const GroupTraffic& group, bool second) {
  Seconds longest;
  for (std::int64_t i = 0; i < members(group); ++i) {
    Seconds path;
    std::int64_t member = i;
    while (const auto parent = tree_parent(member, members(group), second)) {
      path += hop_latency(network, rank_at(group, member), rank_at(group, *parent));
      member = *parent;
    }
    longest = std::max(longest, path);
  }
  return longest;
}

// Sum and maximum over the hops of a ring. The farthest pair of a group is among the neighbours and
// the pairs with the first member: hosts, leaves and rails differ in no other way.
struct RingHops {
  Seconds sum;
  Seconds slowest;
  Seconds slowest_pair;
};

RingHops ring_hops(const NetworkShape& network, const GroupTraffic& group) {
  RingHops hops;
  for (std::int64_t i = 0; i < members(group); ++i) {
    const Seconds next = hop_latency(network, rank_at(group, i), rank_at(group, i + 1));
    hops.sum += next;
    hops.slowest = std::max(hops.slowest, next);
    if (i > 0) {
      const Seconds from_first = hop_latency(network, rank_at(group, 0), rank_at(group, i));
      hops.slowest_pair = std::max({hops.slowest_pair, next, from_first});
    }
  }
  return hops;
}

Seconds latency_of(const NetworkShape& network, const GroupTraffic& group) {
  const double n = as_double(members(group));
  if (n < 2) {
    return {};
  }
  switch (group.pattern) {
    case FlowPattern::kRingGather:
      return ring_hops(network, group).sum * ((n - 1) / n);
    case FlowPattern::kRingAllReduce:
      return ring_hops(network, group).sum * (2 * (n - 1) / n);
    case FlowPattern::kTreeAllReduce:
      return 2 * climb_latency(network, group, false);
    case FlowPattern::kDoubleTreeAllReduce:
      return 2 *
             std::max(climb_latency(network, group, false), climb_latency(network, group, true));
    case FlowPattern::kAllToAll:
      return ring_hops(network, group).slowest_pair;
    case FlowPattern::kShift:
      break;
  }
  return ring_hops(network, group).slowest;
}

}  // namespace

std::optional<std::int64_t> tree_parent(std::int64_t member, std::int64_t size, bool second) {
  assert(0 <= member && member < size);
  const bool mirrored = second && size % 2 == 0;
  const bool moved = second && size % 2 != 0;
  const std::int64_t shift = moved ? 1 : 0;
  const std::int64_t place = mirrored ? size - 1 - member : (member - shift + size) % size;
  if (place == 0) {
    return std::nullopt;
  }
  // One level up, the lowest set bit is the next one. The right edge of the tree is cut off where
  // the group ends: there the bit is dropped.
  const std::int64_t bit = place & -place;
  const std::int64_t above = (place ^ bit) | (bit << 1);
  const std::int64_t parent = above < size ? above : place ^ bit;
  return mirrored ? size - 1 - parent : (parent + shift) % size;
}

LinkLoads link_loads(const NetworkShape& network, std::span<const GroupTraffic> groups) {
  LinkLoads loads(network);
  for (const GroupTraffic& group : groups) {
    add_flows(loads, network, group, flow_bytes(group));
  }
  return loads;
}

NetworkTime network_time(const NetworkShape& network, std::span<const GroupTraffic> groups) {
  const LinkLoads loads = link_loads(network, groups);
  NetworkTime time;
  for (const LinkClass kind : kClasses) {
    for (const LinkDirection direction : kDirections) {
      const std::span<const Bytes> links = loads.of(kind, direction);
      const auto busiest = std::max_element(links.begin(), links.end());
      if (busiest == links.end() || *busiest <= Bytes()) {
        continue;
      }
      const Seconds bound = *busiest / of_class(network.rate, kind);
      if (bound > time.bandwidth_term) {
        time.bottleneck = NetworkLink{kind, direction, busiest - links.begin()};
        time.load = *busiest;
        time.bandwidth_term = bound;
      }
    }
  }
  for (const GroupTraffic& group : groups) {
    time.latency_term = std::max(time.latency_term, latency_of(network, group));
  }
  return time;
}

double share_of_nic(const NetworkShape& network, std::span<const GroupTraffic> groups,
                    std::size_t which) {
  assert(which < groups.size());
  // Flows counted as loads of one byte each.
  LinkLoads own(network);
  LinkLoads all(network);
  add_flows(own, network, groups[which], Bytes(1));
  for (const GroupTraffic& group : groups) {
    add_flows(all, network, group, Bytes(1));
  }
  double share = 1;
  for (const LinkDirection direction : kDirections) {
    const std::span<const Bytes> mine = own.of(LinkClass::kNic, direction);
    const std::span<const Bytes> every = all.of(LinkClass::kNic, direction);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (mine[i] > Bytes()) {
        share = std::min(share, mine[i] / every[i]);
      }
    }
  }
  return share;
}

}  // namespace sextant::cost
