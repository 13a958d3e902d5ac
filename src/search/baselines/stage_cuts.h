// Alpa's inter-operator step: where to cut a chain of layers into stages.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"

namespace sextant::search {

// Times of runs of layers: [first, last) on one submesh.
class RunTimes {
 public:
  explicit RunTimes(std::int64_t layers)
      : layers_(layers), times_(static_cast<std::size_t>((layers + 1) * (layers + 1))) {}
  [[nodiscard]] std::int64_t layers() const { return layers_; }
  // REQUIRES: 0 ≤ first < last ≤ layers.
  Seconds& at(std::int64_t first, std::int64_t last) { return times_[index(first, last)]; }
  [[nodiscard]] Seconds at(std::int64_t first, std::int64_t last) const {
    return times_[index(first, last)];
  }

 private:
  [[nodiscard]] std::size_t index(std::int64_t first, std::int64_t last) const {
    return static_cast<std::size_t>(first * (layers_ + 1) + last);
  }
  std::int64_t layers_ = 0;
  std::vector<Seconds> times_;
};

struct StageCuts {
  std::vector<std::int64_t> layers;  // of each stage
  Seconds time;                      // Σ t + (microbatches − 1) · max t
};

// A run that does not fit as this stage; nor does one that holds it.
struct TooLarge {
  std::int64_t stage = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

struct CutQuestion {
  std::int64_t stages = 1;
  std::int64_t microbatches = 1;
  std::vector<TooLarge> too_large;
};

// The best way to cut all layers into so many stages; nothing where there is none.
// REQUIRES: stages ≥ 1, microbatches ≥ 1.
std::optional<StageCuts> best_cuts(const RunTimes& times, const CutQuestion& question);

}  // namespace sextant::search
