// What peers took for the same work in the same step: whom a rank is late against.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "diagnose/replay_graph.h"

namespace sextant::diagnose {

// Why a rank came late to where it met others.
enum class LateCause : std::uint8_t {
  kCompute,  // its kernels took longer
  kCopy,     // its copies did
  kData,     // its host loaded data longer
  kHost,     // its device waited longer for its host
  kOther,    // nothing ran for longer, and why is not known
  kLink,     // its transfer took longer than those of other groups
};
inline constexpr std::size_t kWorkCauses = 5;  // those of own work come first
std::string_view name_of(LateCause cause);

using WorkParts = std::array<std::int64_t, kWorkCauses>;  // by LateCause
WorkParts parts_of(const metrics::OwnWork& work);

enum class PeerMeasure : std::uint8_t {
  kMedian,  // of an even number the lower one: of two ranks the slower is late by all of it
  kMean,
};

// What a rank did itself in a step, and what its peers did, in each part. Whole steps are compared
// and not stretch with stretch: where communication runs beside compute, what lies between two
// communications is another thing on a rank that comes late to them.
struct PeerTotals {
  std::vector<WorkParts> own;     // by step, then rank
  std::vector<WorkParts> normal;  // of its peers, itself among them
  std::size_t ranks = 0;
  std::vector<std::uint32_t> step_of;  // of each node: place in ReplayGraph::steps

  // The parts of a node of work as long as its rank's would be if in all the step they were as long
  // as its peers': in proportion.
  [[nodiscard]] WorkParts normal_of(const ReplayGraph& graph, std::uint32_t node) const;
};
PeerTotals peer_totals(const ReplayGraph& graph, PeerMeasure measure);

// The median transfer of communications of the node's type in its step, by node; of work nothing.
std::vector<std::int64_t> median_transfers(const ReplayGraph& graph);

}  // namespace sextant::diagnose
