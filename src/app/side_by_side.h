// Pieces of work on all cores, with a bound on how much of it is under way at once.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "base/units.h"

namespace sextant::app {

struct SideBySide {
  Bytes most;            // that may be under way; a piece above it is done alone
  unsigned threads = 0;  // 0: as many as there are cores
};

// Does work(i) once for every i, begun in order; piece i weighs weights[i]. Returns when all are
// done. REQUIRES: work may be called from several threads at once and throws nothing.
void side_by_side(std::span<const Bytes> weights, const SideBySide& limits,
                  const std::function<void(std::size_t)>& work);

}  // namespace sextant::app
