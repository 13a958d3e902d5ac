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
#include "step/training_run.h"

namespace sextant::explain {

struct EstimateAnswer {
  Provenance provenance;
  describe::Job job;
  step::Estimate result;
  step::ComputeEstimate compute;  // of the slowest pipeline rank
  std::optional<step::TrainingRun> training;
  describe::Assumptions assumed;  // the job's, and about kernels, host, links and network
  bool verbose = false;           // compute in detail
};

// JSON: schema sextant.estimate/3. CSV: the terms.
std::string to_text(const EstimateAnswer& answer, const Style& style);

// What no number of an estimate contains.
std::string_view left_out_of_estimates();

}  // namespace sextant::explain
