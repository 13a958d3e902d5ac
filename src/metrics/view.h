// What every measure asks of a Recording, looked up once: the lanes of each rank, and which call
// started what. Definitions of all measures: docs/metrics.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "timeline/recording.h"

namespace sextant::metrics {

// No span, no step.
inline constexpr std::uint32_t kNone = 0xffffffffU;

struct RankLanes {
  RankId rank;
  std::vector<timeline::LaneId> streams;  // of the device, that hold work (no marks alone)
  std::vector<timeline::LaneId> threads;  // of the host
  // The stream that computes longest; of none that computes, that works longest. A rank of CPUs has
  // none: what it does is on its threads.
  std::optional<timeline::LaneId> main = std::nullopt;
  [[nodiscard]] bool has_device() const { return !streams.empty(); }
};

// What a label is to the measures, told from kind and name once for all its spans.
struct LabelTraits {
  bool is_work = false;      // compute, communication or copy
  bool is_blocking = false;  // a call that waits until the device is done: cudaStreamSynchronize
  bool is_runtime = false;   // a call of CUDA's or HIP's, no operator
};

// Those of one rank. REQUIRES: values by rank, as a Recording has them.
template <typename T>
std::span<const T> of_rank(const std::vector<T>& values, RankId rank) {
  const auto found = std::ranges::equal_range(values, rank, {}, &T::rank);
  return {found.begin(), found.end()};
}

// Refers to the Recording, which must stay as it is.
struct View {
  const timeline::Recording* recording = nullptr;
  std::vector<RankLanes> ranks;        // by rank
  std::vector<LabelTraits> traits;     // by label
  std::vector<std::uint32_t> call_of;  // by number of a span: of the call that started it, or kNone
  // By number of a call: of the innermost operator's range around it, or kNone.
  std::vector<std::uint32_t> operator_of;
  std::vector<bool> launches;  // by lane: calls on it started something

  [[nodiscard]] const timeline::Timeline& timeline() const { return recording->timeline; }
  [[nodiscard]] const LabelTraits& traits_of(const timeline::Span& span) const {
    return traits[static_cast<std::size_t>(timeline().occurrence_of(span).label.value)];
  }
  // A span's number in Timeline::spans().
  [[nodiscard]] std::uint32_t number_of(const timeline::Span& span) const {
    return static_cast<std::uint32_t>(&span - timeline().spans().data());
  }
};

// REQUIRES: the timeline is sorted. Eight bytes a span, sixteen more for those with a correlation
// while it works.
View view_of(const timeline::Recording& recording);

}  // namespace sextant::metrics
