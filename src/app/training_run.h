// The tokens of a whole training, and what a device-hour costs, from their words.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "step/training_run.h"

namespace sextant::app {

// Words of the command line; "" where not given.
struct TrainingRequest {
  std::string tokens;  // "15T", "300B", "1.5M" or a plain number
  std::string price;   // of a device-hour: "2.5"
};

// Nothing where no tokens are asked for. An Error where the words are no such numbers, or a price
// has no tokens to go with.
Result<std::optional<step::TrainingWish>> training_wish(const TrainingRequest& request);

}  // namespace sextant::app
