// The messages of one pass of a microbatch, added up by axis and by what hides them.
#pragma once

#include "step/step_model.h"
#include "workload/collective.h"

namespace sextant::step {

struct Messages {
  AxisTimes bare;
  AxisTimes behind_product;
  AxisTimes behind_attention;
  AxisTimes behind_layers;
  AxisTimes behind_microbatch;
  Seconds unit;       // the longest message behind layers: the first of a pass is not hidden
  unsigned used = 0;  // a bit for each Hides that is there: most are not
  [[nodiscard]] bool has(workload::Hides hides) const {
    return (used >> static_cast<unsigned>(hides) & 1U) != 0;
  }
  // Is any there that something may hide?
  [[nodiscard]] bool hideable() const {
    return has(workload::Hides::kGemm) || has(workload::Hides::kAttention) ||
           has(workload::Hides::kNextLayers) || has(workload::Hides::kMicrobatch);
  }

  [[nodiscard]] AxisTimes& at(workload::Hides hides) {
    switch (hides) {
      case workload::Hides::kGemm:
        return behind_product;
      case workload::Hides::kAttention:
        return behind_attention;
      case workload::Hides::kNextLayers:
        return behind_layers;
      case workload::Hides::kMicrobatch:
        return behind_microbatch;
      case workload::Hides::kNothing:
      case workload::Hides::kOptimizer:
        break;
    }
    return bare;
  }
  // `times` messages of `each`.
  void add(workload::Hides hides, Axis axis, Seconds each, double times) {
    at(hides)[axis] += each * times;
    used |= 1U << static_cast<unsigned>(hides);
    if (hides == workload::Hides::kNextLayers) {
      unit = unit < each ? each : unit;
    }
  }
};

}  // namespace sextant::step
