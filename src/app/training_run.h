// What a whole training takes: as many steps as its tokens ask for, at the estimate's pace.
//
// Left out: restarts, evaluation, checkpoints, a batch that grows.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "explain/estimate_view.h"

namespace sextant::app {

// Words of the command line; "" where not given.
struct TrainingRequest {
  std::string tokens;  // "15T", "300B", "1.5M" or a plain number
  std::string price;   // of a device-hour: "2.5"
};

// An Error where the words are no such numbers, or a price has no tokens to go with.
Result<void> check_training(const TrainingRequest& request);

// Nothing where no tokens are asked for.
Result<std::optional<explain::TrainingRun>> training_run(const TrainingRequest& request,
                                                         const step::Estimate& result);

}  // namespace sextant::app
