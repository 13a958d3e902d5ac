#include "step/training_run.h"

#include <cmath>

namespace sextant::step {

TrainingRun training_run(const TrainingWish& wish, const Estimate& estimate) {
  // The last step is a whole one.
  const double steps = std::ceil(wish.tokens / estimate.tokens);
  return {.tokens = wish.tokens,
          .steps = static_cast<std::int64_t>(steps),
          .devices = estimate.devices,
          .time = estimate.step.step * steps,
          .price = wish.price};
}

}  // namespace sextant::step
