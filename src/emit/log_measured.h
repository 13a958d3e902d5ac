// From the steps a log reports to one measurement.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "describe/layout/job.h"
#include "emit/log_steps.h"

namespace sextant::emit {

// How fast a run was. Which step lines count, in this order:
//   1. those that carry a usable time or rate (not NaN, infinite, zero or negative);
//   2. those of the last global batch size, where the batch grew;
//   3. not the first 3 of them, whatever they say;
//   4. from there not the leading ones above 1.25 × the median of the last half: still warming up.
// Evaluations, checkpoints and profiled steps among the rest stay in; the median does not mind.
struct MeasuredRun {
  // Median of the counted steps, and half the range between their 10th and 90th percentile. Nothing
  // where the log has rates only and the tokens a step are not known.
  std::optional<Seconds> step;
  std::optional<Seconds> spread;
  std::int64_t counted = 0;   // step lines behind the medians
  std::int64_t left_out = 0;  // step lines not counted: warm-up, other batch sizes, unusable
  std::optional<double> tflops_per_device;  // median, as the framework counts them
  std::optional<double> tokens_per_second_per_device;
  std::optional<double> loss;  // the last one that is a number
  std::optional<Bytes> max_allocated;
  std::optional<Bytes> max_reserved;
  std::optional<std::int64_t> global_batch;  // sequences a step
  std::optional<std::int64_t> sequence;      // tokens
  std::optional<std::int64_t> world;         // devices
  std::optional<std::int64_t> data_parallel;
  std::vector<std::string> notes;  // what a reader of the number should know
};

// What the settings say about the size of a step.
struct StepSize {
  std::optional<std::int64_t> global_batch;
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> world;
  std::optional<std::int64_t> data_parallel;
  std::optional<double> tokens_per_device;  // a step's, over the devices
};

// The step of a run that says rates alone, where the job says how many tokens that is; nothing
// where it says neither.
std::optional<Seconds> step_of(const MeasuredRun& run, const describe::Job& job);

// Nothing where no step line counts. `steps` in the order of the log.
std::optional<MeasuredRun> measured_run(std::span<const StepLine> steps, const StepSize& size);

}  // namespace sextant::emit
