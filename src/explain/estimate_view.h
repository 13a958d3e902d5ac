// How long a step takes: time and interval, speed, where the time goes, memory, and what training
// on so many tokens takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "describe/assumption.h"
#include "describe/layout/job.h"
#include "explain/compute_view.h"
#include "explain/provenance.h"
#include "explain/step_result.h"
#include "explain/style.h"

namespace sextant::explain {

// A whole training: as many steps as its tokens ask for, nothing between them.
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

struct EstimateAnswer {
  Provenance provenance;
  describe::Job job;
  step::Estimate result;
  step::ComputeEstimate compute;  // of the slowest pipeline rank
  std::optional<TrainingRun> training;
  describe::Assumptions assumed;  // the job's, and about kernels, host, links and network
  bool verbose = false;           // compute in detail
};

// JSON: schema sextant.estimate/3. CSV: the terms.
std::string to_text(const EstimateAnswer& answer, const Style& style);

// What no number of an estimate contains.
std::string_view left_out_of_estimates();

}  // namespace sextant::explain
