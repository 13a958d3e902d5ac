// A job's step with everything that is said of it: time and terms, its interval, use of the
// devices, memory, energy. What commands show, agents compare and judges hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "cost/compute/rank_detail.h"
#include "cost/memory/fit.h"
#include "cost/memory/record.h"
#include "describe/cluster/device.h"
#include "describe/layout/job.h"
#include "describe/memory_facts.h"
#include "describe/step_spread.h"
#include "machine/machine.h"
#include "step/estimate.h"
#include "workload/stages.h"

namespace sextant::step {

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
  double odds = 1.0;  // that it fits: cost::fit_odds
  // Where rejected, what makes it fit; where tight, what makes it safe: the cheapest first.
  std::vector<cost::FittingChange> changes;
  [[nodiscard]] bool fits() const { return !rejection.has_value(); }
  // Fits by what is allocated; what the allocator reserves may be too much.
  [[nodiscard]] bool tight() const { return fits() && odds < cost::kFitsOdds; }
};

// With what every pipeline rank holds, in their order.
struct MemoryEstimate : StepMemory {
  std::vector<cost::RankMemory> ranks;
};

struct Estimate {
  StepEstimate step;
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
  // Forward and backward of a microbatch on the slowest pipeline rank, all its stages.
  [[nodiscard]] Seconds slowest_microbatch() const;
};

// One of the terms that add up to the step.
struct StepTerm {
  std::string_view key;   // in JSON: "tp"
  std::string_view name;  // for people: "exposed tp"
  Seconds time;
  bool communication = false;
};
// In the order they are shown, those of no time too.
std::vector<StepTerm> step_terms(const StepEstimate& step);

// What one pipeline rank computes, communication apart.
struct ComputeEstimate {
  cost::RankDetail rank;
  cost::TimeParts parts;
  cost::Utilisation use;  // as if a step were compute alone
};

// Beyond it, shapes leave the integers that operators are counted in.
Result<void> check_tokens(const describe::Job& job);

// REQUIRES (here and below): the job is legal.
MemoryEstimate memory_estimate(const describe::Job& job, const describe::MemoryFacts& facts);
// What each item of that rank is made of.
cost::MemoryRecord memory_record(const describe::Job& job, const describe::MemoryFacts& facts,
                                 std::int64_t pipeline_rank);

// REQUIRES: check_tokens holds, the machine is the job's own.
Estimate whole_estimate(const describe::Job& job, const machine::StepMachine& machine);

// The same with why its step takes what it takes.
struct RecordedEstimate {
  Estimate estimate;
  StepRecord record;
};
RecordedEstimate recorded_estimate(const describe::Job& job, const machine::StepMachine& machine);

// What one pipeline rank computes, clipping included. REQUIRES: as whole_estimate.
ComputeEstimate compute_estimate(const describe::Job& job, std::int64_t pipeline_rank,
                                 const cost::DeviceModel& device, const describe::HostFacts& host);
// Of the rank that computes longest.
ComputeEstimate slowest_compute(const describe::Job& job, const cost::DeviceModel& device,
                                const describe::HostFacts& host);

}  // namespace sextant::step
