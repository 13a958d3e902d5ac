// What peers took for the same stretch of work in the same step: whom a rank is late against.
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

// The median over nodes of one type in one step; of an even number the lower one, so that of two
// ranks the slower is late by all of the difference. A node without peers is its own measure.
struct PeerMedians {
  std::vector<std::uint32_t> place;   // of a node in `parts` or `transfer_ns`
  std::vector<WorkParts> parts;       // of work
  std::vector<std::int64_t> lengths;  // of communication: transfer
  [[nodiscard]] const WorkParts& parts_of(std::uint32_t node) const { return parts[place[node]]; }
  [[nodiscard]] std::int64_t length_of(std::uint32_t node) const { return lengths[place[node]]; }
};
PeerMedians peer_medians(const ReplayGraph& graph);

}  // namespace sextant::diagnose
