// Which steps a recording holds, and which window of time each has on the host and on the device.
//
// A host runs ahead of its device, by hundreds of milliseconds where queues are deep: what a step
// launched belongs to it, whenever it runs. So a step's window on the device goes from the end of
// the last work launched before it on the main stream to the end of the last that it launched
// there. A stream runs its work in the order of launches, so the windows follow one another without
// gap or overlap, and their mean is the time of a step. Without launches (a TPU's planes; a rank of
// CPUs) the window is what the source marks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics/intervals.h"
#include "metrics/view.h"

namespace sextant::metrics {

// Of a rank; more are left out, since what is kept of each takes two kilobytes.
inline constexpr std::size_t kMostSteps = 65'536;

enum class StepBasis : std::uint8_t {
  kMarkers,  // the source marks them
  kPeriod,   // found: what repeats
  kWhole,    // neither: the recording is one window
};

struct Step {
  std::int64_t number = 0;  // as the source counts; of a found period from 0
  Interval host;            // from its mark to the next one's
  Interval window;          // on the device: what is measured
  bool is_kept = true;
};

struct RankSteps {
  RankId rank;
  StepBasis basis = StepBasis::kMarkers;
  std::string found_by =
      {};                   // of kPeriod: "Optimizer.step#Adam.step", "kernels repeat"; else empty
  bool by_launches = true;  // windows are the device's; else the marks themselves
  std::vector<Step> steps = {};  // that are recorded, in order
  // The first and the last, of three or more: the profiler's own start and end lie in them. And
  // those beyond kMostSteps, which are not among `steps`.
  std::int64_t left_out = 0;
  [[nodiscard]] std::int64_t kept() const;
};

// Both inclusive, as the source counts.
struct StepRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

struct Steps {
  std::vector<RankSteps> ranks;  // as View::ranks
  // By number of a span: the place in RankSteps::steps of the step that launched it (device) or in
  // which it starts (host); kNone: of no step.
  std::vector<std::uint32_t> step_of;
};

// `range`: exactly these are kept, first and last ones too; nothing: all but first and last.
Steps steps_of(const View& view, std::optional<StepRange> range = std::nullopt);

}  // namespace sextant::metrics
