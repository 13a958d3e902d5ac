// The answer to "how long does a step of this job take": what `estimate`, `compare` and sweeps
// show.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "cost/memory/fit.h"
#include "describe/layout/layout.h"
#include "describe/step_spread.h"
#include "step/estimate.h"
#include "workload/stages.h"

namespace sextant::explain {

// FLOPs of a step over its time, mean of all devices.
struct StepUse {
  describe::DType format = describe::DType::kBf16;
  FlopsPerSecond peak;  // of the datasheet; nothing where it has none in the format
  FlopsPerSecond model;
  FlopsPerSecond hardware;  // recomputation and padding included
  [[nodiscard]] double mfu() const { return peak > FlopsPerSecond() ? model / peak : 0.0; }
  [[nodiscard]] double hfu() const { return peak > FlopsPerSecond() ? hardware / peak : 0.0; }
};

// Of the fullest pipeline rank.
struct StepMemory {
  cost::RankMemory fullest;
  Bytes available;
  std::optional<cost::MemoryRejection> rejection;
  std::vector<cost::FittingChange> changes;  // where rejected
  [[nodiscard]] bool fits() const { return !rejection.has_value(); }
  // Fits by what is allocated, not by what the allocator reserves.
  [[nodiscard]] bool tight() const { return fits() && fullest.device > available; }
};

struct StepResult {
  step::StepEstimate step;
  std::vector<workload::Stage> stages;  // in model order, as step.stages
  std::int64_t microbatches = 1;
  std::int64_t devices = 1;
  double tokens = 0.0;                           // of a step
  std::optional<describe::StepSpread> interval;  // of measured steps of jobs like it
  StepUse use;
  StepMemory memory;
  std::optional<Joules> energy;  // of all devices; nothing: what they draw is not known

  [[nodiscard]] Seconds low() const { return step.step * (interval ? interval->low : 1.0); }
  [[nodiscard]] Seconds high() const { return step.step * (interval ? interval->high : 1.0); }
  // Communication overhead: exposed communication over the step.
  [[nodiscard]] double overhead() const { return step.exposed.total() / step.step; }
  [[nodiscard]] Hertz tokens_per_second() const { return Hertz(tokens / step.step.base()); }
  [[nodiscard]] Hertz tokens_per_device() const {
    return tokens_per_second() / static_cast<double>(devices);
  }
  // Nothing (0) where the energy is not known.
  [[nodiscard]] double tokens_per_joule() const { return energy ? tokens / energy->base() : 0.0; }
  [[nodiscard]] Watts device_power() const {
    return energy ? *energy / step.step / static_cast<double>(devices) : Watts();
  }
};

// One of the terms that add up to the step.
struct StepTerm {
  std::string_view key;   // in JSON: "tp"
  std::string_view name;  // for people: "exposed tp"
  Seconds time;
  bool communication = false;
};
// In the order they are shown, those of no time too.
std::vector<StepTerm> step_terms(const step::StepEstimate& step);

// "stage 3 (layers 60-79, head)": what the slowest pipeline rank runs.
std::string slowest_stages(const StepResult& result);
// Forward and backward of a microbatch on the slowest pipeline rank, all its stages.
Seconds slowest_microbatch(const StepResult& result);

// "2.31 s (1.9 s … 2.7 s)"; the time alone where nothing is known of the interval.
std::string with_interval(const StepResult& result);
// "12.3 % of the step (tp 9.1 %, dp 3.2 %)", "none".
std::string overhead_text(const StepResult& result);
// "fits: pipeline rank 0 needs 61 GiB of 79 GiB", "does not fit: …", "tight: …".
std::string memory_text(const StepMemory& memory);

// "1.83 tokens/J, 612 W a device"; "not known: …" where it is not.
std::string energy_text(const StepResult& result);

std::string rate_text(Hertz tokens);  // four digits, never with an exponent: "831.9", "12574"

}  // namespace sextant::explain
