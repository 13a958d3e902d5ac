// The shape of a TPU slice: which torus a number of chips forms when the user does not say.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "describe/cluster/cluster.h"

namespace sextant::describe {

// Are its chips joined to their neighbours only (TPU)?
inline bool is_torus(const Cluster& cluster) {
  return cluster.system.scale_up == ScaleUp::kIci2d || cluster.system.scale_up == ScaleUp::kIci3d;
}

// The most cubic (or square, in 2D) shape of that many chips, sides ascending and within the pod's.
// Nothing where the system is no torus or no such shape exists.
std::optional<std::array<std::int64_t, 3>> torus_shape(std::int64_t chips, const System& system);

// "4x4x8" or "8x16".
Result<std::array<std::int64_t, 3>> parse_torus(std::string_view text, std::string_view where);

}  // namespace sextant::describe
