// What happens on shared network links: how many bytes each link carries when several groups
// communicate at once, and how long the busiest link needs for them.
//
// Every collective is a set of flows of equal size between pairs of ranks. A flow loads each link
// of its route; the loads of all groups add up; no schedule can end before the busiest link has
// carried its load. Large pipelined messages come close to that bound, because every flow over the
// busiest link has something to send until the end. tests/simgrid_test.cc holds it against flows
// that SimGrid simulates: within 10 % where validity is claimed.
//
// Valid for: messages so large that a tree's pieces by far outnumber its levels; links shared by
// max-min fairness between flows; fixed routes over one spine or over spines that share perfectly;
// one group, however placed, or several that start together and either run over the same links or
// over none in common.
// Not valid for: small messages (latency and protocol rule), hash collisions between spine links,
// incast and congestion control, reductions slower than their links, adaptive routing. Groups that
// overlap in part, or that differ in size as well, can end later than the bound, as the bottleneck
// moves while they run and the link that is busiest in all idles in between: 18 % at worst and 1 %
// on average in random cases. They never end earlier.
//
// Pure. Costs O(members) for each group (trees O(members · log members); all-to-all over rails with
// PXN O(devices of the network)) and one small vector for each class of links; not meant for inner
// loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/units.h"
#include "cost/comm/link_route.h"

namespace sextant::cost {

enum class FlowPattern : std::uint8_t {
  kRingGather,           // all-gather or reduce-scatter; bytes: the whole tensor
  kRingAllReduce,        // both, one after the other; bytes: the tensor
  kTreeAllReduce,        // up and down one binary tree, pipelined; bytes: the tensor
  kDoubleTreeAllReduce,  // half of it on each of two trees, the leaves of one inside the other
  kAllToAll,             // bytes: one rank's buffer, an equal part for each member, itself included
  kShift,                // every rank sends `bytes` to the next, the last to the first
};

struct GroupTraffic {
  FlowPattern pattern = FlowPattern::kRingGather;
  // In ring order; a device is host · devices of a host + its place in the host.
  std::vector<std::int64_t> ranks;
  Bytes bytes;
};

// The member (by its place in the group) that a member reduces to in a binary tree: an in-order
// tree, so neighbours in the group stay close; odd places are leaves. `second`: the other tree of
// the pair, mirrored (even size) or moved by one (odd size), where odd places are inner nodes.
// Nothing for the root. Source of the pair of trees: Sanders, Speck, Träff 2009, "Two-tree
// algorithms for full bandwidth broadcast, reduction and scan".
// REQUIRES: 0 ≤ member < size.
std::optional<std::int64_t> tree_parent(std::int64_t member, std::int64_t size, bool second);

// REQUIRES (here and below): the ranks of a group are different and the network has them.
LinkLoads link_loads(const NetworkShape& network, std::span<const GroupTraffic> groups);

// Until all groups are done. The bandwidth term alone is a lower bound. The latency term is steps ×
// links crossed in a step, for the group with the most: a ring's steps at the mean of its hops, a
// tree's longest path up and down, an all-to-all's or a shift's slowest pair.
struct NetworkTime {
  std::optional<NetworkLink> bottleneck;  // nothing where nothing is sent
  Bytes load;                             // on it
  Seconds bandwidth_term;                 // load over its rate
  Seconds latency_term;
  [[nodiscard]] constexpr Seconds total() const { return bandwidth_term + latency_term; }
};
NetworkTime network_time(const NetworkShape& network, std::span<const GroupTraffic> groups);

// The part of its NICs' bandwidth that groups[which] gets while all groups are sending: its flows
// over all flows, on the NIC where that is least; 1 where it is alone or uses none. Two rings over
// the same NICs get half each, k of them 1/k. A lower limit: a group that is held up elsewhere
// leaves the rest of its part to the others.
//
// Contention between two groups is also a subject of Li et al. 2025, "Analyzing Communication
// Predictability in LLM Training", arXiv:2512.24750. Of it only the abstract and the openings of
// summaries could be read, which say that factors of effective bandwidth were measured, not how
// much two groups lose: the formula here is fair sharing, unchecked against their figures.
// REQUIRES: which < groups.size().
double share_of_nic(const NetworkShape& network, std::span<const GroupTraffic> groups,
                    std::size_t which);

}  // namespace sextant::cost
