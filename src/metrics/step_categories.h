// A step by what the device did or waited for, as xprof's users read it (definitions:
// docs/metrics.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "metrics/breakdown.h"
#include "metrics/idle.h"
#include "metrics/view.h"

namespace sextant::metrics {

enum class StepCategory : std::uint8_t {
  kCompile,         // idle while the host compiled
  kInput,           // copies from the host that nothing hides; idle while the host loaded data
  kOutput,          // copies to the host that nothing hides
  kLaunch,          // idle while the call ran that launched what came next
  kHost,            // idle while the host did something else, or waited
  kCollective,      // exposed communication
  kDeviceToDevice,  // other exposed copies
  kCompute,
  kOther,
};
inline constexpr std::size_t kStepCategories = 9;
std::string_view name_of(StepCategory category);
using CategoryTimes = std::array<std::int64_t, kStepCategories>;  // ns

// One for each window; they add up to it exactly. `idle`: device_idle() of the same windows.
// REQUIRES: windows in order, not overlapping.
std::vector<CategoryTimes> step_categories(const View& view, const RankLanes& rank,
                                           const Activity& activity,
                                           const std::vector<IdleCauses>& idle,
                                           const std::vector<Interval>& windows);

}  // namespace sextant::metrics
