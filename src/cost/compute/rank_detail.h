// What one pipeline rank computes in a step, operator by operator: the terms that RankTime is the
// sum of, where the time goes, and which share of the device's peak that uses.
//
// A rank that runs several stages (interleaving) runs them one after the other; under DualPipe it
// runs two stages for half of the microbatches each.
//
// Left out: communication, pipeline bubbles, and what rank_time.h leaves out.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "cost/compute/operator_time.h"
#include "cost/compute/rank_time.h"
#include "describe/words.h"

namespace sextant::cost {

enum class StepPhase : std::uint8_t { kForward, kBackward, kUpdate };
inline constexpr std::array<describe::Word<StepPhase>, 3> kStepPhaseWords{
    {{StepPhase::kForward, "forward"},
     {StepPhase::kBackward, "backward"},
     {StepPhase::kUpdate, "update"}}};

struct RankDetail {
  std::int64_t pipeline_rank = 0;
  std::vector<std::int64_t> stages;  // that it runs
  std::int64_t microbatches = 1;
  RankTime time;
  Seconds step;  // all microbatches and the update, host and device together
  std::array<std::vector<OperatorTime>, kStepPhaseWords.size()> operators;  // by phase, alike once
  Flops model_flops;     // of a step: what the model asks for
  Flops hardware_flops;  // of a step: what is executed, recomputation and padding included

  [[nodiscard]] const PhaseTime& phase(StepPhase which) const {
    return which == StepPhase::kForward    ? time.forward
           : which == StepPhase::kBackward ? time.backward
                                           : time.update;
  }
  // How often the phase runs in a step.
  [[nodiscard]] double times(StepPhase which) const {
    return which == StepPhase::kUpdate ? 1.0 : static_cast<double>(microbatches);
  }
};

// REQUIRES: the job is legal; 0 ≤ pipeline_rank < pp.
RankDetail rank_detail(const describe::Job& job, std::int64_t pipeline_rank,
                       const RankSetting& setting);
// Of the pipeline rank that takes longest.
RankDetail slowest_rank(const describe::Job& job, const RankSetting& setting);

// step_time of rank_time.h. Past some thousand microbatches the rest is taken at the pace of the
// slower of host and device, so that no batch takes long to answer.
Seconds long_step_time(const RankTime& time, std::int64_t microbatches);

// Where a step's time goes; the parts add up to it. Launches: from one kernel to the next on the
// device. Waiting: for the host (experts issued one by one too), and for FSDP's first gather.
struct TimeParts {
  Seconds products;
  Seconds attention;  // and recurrences
  Seconds streams;    // everything else, the update included
  Seconds launches;
  Seconds waiting;
};
TimeParts time_parts(const RankDetail& rank);

// What the device waits for its host in a step.
Seconds host_wait(const RankDetail& rank);

// Which of host and device a step waits for. Both: the device is the slower one over the step, yet
// waits for the host in some phase for more than a hundredth of it.
enum class Bound : std::uint8_t { kDevice, kHost, kBoth };
inline constexpr std::array<describe::Word<Bound>, 3> kBoundWords{
    {{Bound::kDevice, "device"}, {Bound::kHost, "host"}, {Bound::kBoth, "both"}}};
Bound bound_of(const RankDetail& rank);
// Of a phase by itself: device or host.
constexpr Bound bound_of(const PhaseTime& phase) {
  return phase.host > phase.device ? Bound::kHost : Bound::kDevice;
}

// FLOPs of the rank's step over its time, as shares of the datasheet's peak in the job's format.
struct Utilisation {
  describe::DType format = describe::DType::kBf16;
  FlopsPerSecond peak;
  double model = 0.0;     // MFU
  double hardware = 0.0;  // HFU
};
Utilisation utilisation(const RankDetail& rank, const describe::Job& job);

}  // namespace sextant::cost
