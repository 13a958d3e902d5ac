#include "emit/log_measured.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/statistics.h"

namespace sextant::emit {
namespace {

constexpr std::size_t kAlwaysLeftOut = 3;
constexpr double kWarm = 1.25;
constexpr std::size_t kEnough = 3;

// Something proportional to the time of a step: its seconds, or one over its rate. All steps of one
// run are compared in the same terms: the first of these that any line has.
enum class Pace { kSeconds, kTokens, kSamples };

double pace_of(const StepLine& step, Pace pace) {
  switch (pace) {
    case Pace::kSeconds:
      return step.seconds;
    case Pace::kTokens:
      return step.tokens_per_second > 0.0 ? 1.0 / step.tokens_per_second : 0.0;
    case Pace::kSamples:
      return step.samples_per_second > 0.0 ? 1.0 / step.samples_per_second : 0.0;
  }
  return 0.0;
}

// Seconds, or one over a rate, that a step of a training can have; rates too.
bool is_usable(double number) {
  return number > 1e-12 && number < 1e12;
}

std::optional<Pace> common_pace(std::span<const StepLine> steps) {
  for (const Pace pace : {Pace::kSeconds, Pace::kTokens, Pace::kSamples}) {
    if (std::any_of(steps.begin(), steps.end(),
                    [&](const StepLine& step) { return is_usable(pace_of(step, pace)); })) {
      return pace;
    }
  }
  return std::nullopt;
}

// Steps 1 and 2: usable lines of the last batch size.
std::vector<const StepLine*> comparable(std::span<const StepLine> steps, Pace pace) {
  std::int64_t batch = 0;
  for (const StepLine& step : steps) {
    batch = step.global_batch > 0 ? step.global_batch : batch;
  }
  std::vector<const StepLine*> kept;
  for (const StepLine& step : steps) {
    const bool same = step.global_batch == 0 || step.global_batch == batch;
    if (same && is_usable(pace_of(step, pace))) {
      kept.push_back(&step);
    }
  }
  return kept;
}

// Steps 3 and 4: how many leading ones are warm-up. At least one line is left.
std::size_t warm_up(std::span<const double> paces) {
  std::size_t out = std::min(kAlwaysLeftOut, paces.size() - 1);
  const double settled = median(paces.subspan(paces.size() / 2)).value_or(0.0);
  while (out + 1 < paces.size() && paces[out] > kWarm * settled) {
    ++out;
  }
  return out;
}

// How many seconds one unit of the pace is; nothing where that is not known.
std::optional<double> seconds_per_pace(Pace pace, const StepSize& size) {
  switch (pace) {
    case Pace::kSeconds:
      return 1.0;
    case Pace::kTokens:
      return size.tokens_per_device;
    case Pace::kSamples:
      return size.global_batch ? std::optional(static_cast<double>(*size.global_batch))
                               : std::nullopt;
  }
  return std::nullopt;
}

template <typename Value>
std::optional<double> median_of(std::span<const StepLine* const> steps, Value value) {
  std::vector<double> values;
  for (const StepLine* step : steps) {
    if (const double number = value(*step); is_usable(number)) {
      values.push_back(number);
    }
  }
  return median(values);
}

void add_notes(MeasuredRun& run, std::size_t lines, std::size_t kept, std::size_t warm) {
  if (lines > kept) {
    run.notes.push_back(
        fmt::format("step lines of another batch size or without a usable time: {}", lines - kept));
  }
  run.notes.push_back(
      fmt::format("step lines counted: {}; left out as warm-up: {}", run.counted, warm));
  if (static_cast<std::size_t>(run.counted) < kEnough) {
    run.notes.push_back(fmt::format(
        "fewer than {} step lines are left after warm-up: the time may not have settled", kEnough));
  }
}

// Samples a second times seconds, where that is a whole number as far as its digits go.
std::optional<std::int64_t> implied_batch(std::span<const StepLine* const> steps) {
  const std::optional<double> batch =
      median_of(steps, [](const StepLine& step) { return step.samples_per_second * step.seconds; });
  if (!batch || *batch < 0.5 || *batch > 1e9 ||
      std::abs(*batch - std::round(*batch)) > std::min(0.3, 0.002 * *batch)) {
    return std::nullopt;
  }
  return std::llround(*batch);
}

void fill_from_size(MeasuredRun& run, const StepSize& size) {
  if (!run.global_batch) {
    run.global_batch = size.global_batch;
  }
  run.sequence = size.sequence;
  run.world = size.world;
  run.data_parallel = size.data_parallel;
  if (!run.tokens_per_second_per_device && run.step && run.global_batch && run.sequence &&
      run.world) {
    run.tokens_per_second_per_device = static_cast<double>(*run.global_batch) *
                                       static_cast<double>(*run.sequence) / run.step->base() /
                                       static_cast<double>(*run.world);
  }
}

}  // namespace

std::optional<MeasuredRun> measured_run(std::span<const StepLine> steps, const StepSize& size) {
  const std::optional<Pace> pace = common_pace(steps);
  if (!pace) {
    return std::nullopt;
  }
  const std::vector<const StepLine*> kept = comparable(steps, *pace);
  std::vector<double> paces;
  paces.reserve(kept.size());
  for (const StepLine* step : kept) {
    paces.push_back(pace_of(*step, *pace));
  }
  if (paces.empty()) {
    return std::nullopt;
  }
  const std::size_t warm = warm_up(paces);
  const std::span<const StepLine* const> counted = std::span(kept).subspan(warm);
  const std::span<const double> settled = std::span(paces).subspan(warm);

  MeasuredRun run;
  run.counted = static_cast<std::int64_t>(counted.size());
  run.left_out = static_cast<std::int64_t>(steps.size() - counted.size());
  if (const auto unit = seconds_per_pace(*pace, size)) {
    const double low = quantile(settled, 0.1).value_or(0.0);
    const double high = quantile(settled, 0.9).value_or(0.0);
    run.step = Seconds(median(settled).value_or(0.0) * *unit);
    run.spread = Seconds((high - low) / 2.0 * *unit);
  }
  run.tflops_per_device = median_of(counted, [](const StepLine& s) { return s.tflops; });
  run.tokens_per_second_per_device =
      median_of(counted, [](const StepLine& s) { return s.tokens_per_second; });
  for (const StepLine& step : steps) {
    run.loss = step.loss ? step.loss : run.loss;
  }
  for (const StepLine* step : counted) {
    if (step->global_batch > 0) {
      run.global_batch = step->global_batch;
    }
  }
  add_notes(run, steps.size(), kept.size(), warm);
  fill_from_size(run, size);
  if (!run.global_batch) {
    run.global_batch = implied_batch(counted);
  }
  return run;
}

std::optional<Seconds> step_of(const MeasuredRun& run, const describe::Job& job) {
  if (run.step || !run.tokens_per_second_per_device) {
    return run.step;
  }
  const double tokens = as_double(job.global_batch) * as_double(job.sequences.length);
  return tokens / as_double(job.cluster.devices) / *run.tokens_per_second_per_device * 1_s;
}

}  // namespace sextant::emit
