// What a whole training takes: as many steps as its tokens ask for, at the estimate's pace.
//
// Left out: restarts, evaluation, checkpoints, a batch that grows.
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "step/step_answer.h"

namespace sextant::step {

struct TrainingWish {
  double tokens = 0.0;
  std::optional<double> price;  // of a device-hour, in the user's currency
};

struct TrainingRun {
  double tokens = 0.0;
  std::int64_t steps = 0;
  std::int64_t devices = 1;
  Seconds time;                 // all steps
  std::optional<double> price;  // of a device-hour, in the user's currency
  [[nodiscard]] double device_hours() const {
    return static_cast<double>(devices) * (time / 1_hours);
  }
};

TrainingRun training_run(const TrainingWish& wish, const Estimate& estimate);

}  // namespace sextant::step
