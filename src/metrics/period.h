// What repeats, where nobody marked the steps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "metrics/intervals.h"
#include "metrics/view.h"

namespace sextant::metrics {

struct Period {
  std::string found_by = {};         // "Optimizer.step#Adam.step", "kernels repeat"
  bool is_on_host = true;            // the times are the host's; else the device's
  std::vector<Interval> steps = {};  // in order, each beginning where the one before ends
};

// Ends of the optimizer's step on the host, where it is recorded twice or more; else the sequence
// of kernels on the main stream: the kernel that comes least often, evenly and at least twice,
// begins a step, if nine of ten kernels between are the same as a period later.
std::optional<Period> period_of(const View& view, const RankLanes& rank);

}  // namespace sextant::metrics
