// When each action of a pipeline runs, given what each costs.
//
// Each rank works its list off in order, as soon as what an action waits for (compile.h) is there.
// What is left out: transfers do not contend with one another or slow compute down, and nothing of
// the optimizer or of gradient reduction is here but what the table itself lists.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"
#include "schedule/compile.h"

namespace sextant::schedule {

// What the actions of one stage take, for one microbatch.
struct StageCosts {
  Seconds forward;
  Seconds backward;         // input and weight gradient together, where a schedule does not split
  Seconds input_gradient;   // where it does
  Seconds weight_gradient;  // where it does
  Seconds reduce_gradient;  // once a step, where the table lists it
};
// A stage whose backward is the sum of its two gradients.
constexpr StageCosts split_costs(Seconds forward, Seconds input_gradient, Seconds weight_gradient) {
  return {forward, input_gradient + weight_gradient, input_gradient, weight_gradient, Seconds()};
}

// How a rank sends to its neighbour.
enum class TransferMode {
  kOverlapped,  // in the background: only the receiver waits
  kBlocking,    // the sender's rank is held until the transfer ends; the two of a shared slot go at
                // the same time. Receiving holds no rank beyond its wait
};

struct PipelineCosts {
  std::span<const StageCosts> stages;
  // Between stage s and s + 1, where these are on different ranks: activations one way, gradients
  // the other. Empty: free.
  std::span<const Seconds> forward_transfer;
  std::span<const Seconds> backward_transfer;
  TransferMode transfers = TransferMode::kOverlapped;
  // Two actions in one slot take overlap × the sum of both, and never less than the longer: 1 gains
  // nothing, 0 hides the shorter altogether. Both end when the slot ends.
  double overlap = 1.0;
  // Factor on every compute cost of a microbatch (uneven sequences). Empty: 1.
  std::span<const double> microbatch_scale;
};

// Where one rank's makespan went: busy + sending + idle = makespan.
struct RankTime {
  Seconds busy;     // computing
  Seconds sending;  // held by blocking transfers
  Seconds idle;     // the bubble, from the first start on any rank to the last end on any
};

// What a run fills and a later run reuses: with a workspace that has seen a table as large, a run
// allocates nothing. Times are seconds from the start, by step of the compiled table.
struct Workspace {
  std::vector<double> durations;  // [stage][kind]
  std::vector<double> waits;      // [stage][kind]: of the receiver
  std::vector<double> holds;      // [stage][kind]: of the sender
  std::vector<double> rank_ends;
  std::vector<double> ends;    // 1 + step: when the step's result is there
  std::vector<double> starts;  // step
  std::vector<RankTime> ranks;
};

struct PipelineTime {
  Seconds makespan;
  std::span<const RankTime> ranks;  // in the workspace, until its next run

  // Idle time of all ranks over all their time; 0 where nothing takes time.
  [[nodiscard]] double bubble_share() const;
};

// REQUIRES: costs for each of the table's stages, transfers between each two neighbours or none, a
// scale for each microbatch or none; all finite and ≥ 0.
PipelineTime simulate(const CompiledTable& table, const PipelineCosts& costs, Workspace& workspace);

// The makespan alone, for callers that ask once.
Seconds makespan(const CompiledTable& table, const PipelineCosts& costs);

}  // namespace sextant::schedule
