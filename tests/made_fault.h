// What can be wrong with a run that is made up, one thing at a time, and how a job is cut down to a
// run of a few layers.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "made_job.h"
#include "made_run.h"

namespace sextant::tests {

enum class FaultKind : std::uint8_t {
  kNone,
  kSlowWorker,         // one rank computes `size` times as long
  kSlowBackward,       // the same, in the backward alone
  kStarvedHost,        // one rank's host launches slower than its device computes
  kLateData,           // one rank waits `size` of a step for data
  kStragglingLink,     // messages between two ranks take `size` times as long
  kSlowCollective,     // one in three collectives of one group does
  kStageImbalance,     // the last stage computes `size` times as long
  kPipelineBubble,     // `size` microbatches only
  kSequenceImbalance,  // lengths differ by microbatch: attention takes up to `size` times as long
  kExpertImbalance,    // one rank's experts get `size` times the tokens
  kExposedTp,          // nothing hides the axis, and its messages take `size` times as long
  kExposedDp,
  kExposedPp,
  kExposedEp,
  kExposedCp,
  kInputBound,   // every rank waits `size` of a step for data
  kHostSync,     // every host waits for its device after each layer, then `size` of a layer more
  kLaunchBound,  // every host launches slower than its device computes
  kPythonGc,     // hosts pause for `size` of a step, now this rank's, now that one's
  kCheckpoint,   // every rank writes a checkpoint in one step, for `size` of a step
};
struct FaultWord {
  FaultKind kind;
  std::string_view word;
  std::string_view rule;  // that must come first
};
inline constexpr std::array<FaultWord, 20> kFaultWords{
    {{FaultKind::kSlowWorker, "slow worker", "slow-worker"},
     {FaultKind::kSlowBackward, "slow worker, backward only", "slow-worker"},
     {FaultKind::kStarvedHost, "launch-starved host of one rank", "late-rank"},
     {FaultKind::kLateData, "late data of one rank", "data-late-rank"},
     {FaultKind::kStragglingLink, "straggling link", "straggling-link"},
     {FaultKind::kSlowCollective, "slow collective", "slow-collective"},
     {FaultKind::kStageImbalance, "stage imbalance", "stage-imbalance"},
     {FaultKind::kPipelineBubble, "pipeline bubble", "pipeline-bubble"},
     {FaultKind::kSequenceImbalance, "sequence imbalance", "sequence-imbalance"},
     {FaultKind::kExpertImbalance, "expert imbalance", "expert-imbalance"},
     {FaultKind::kExposedTp, "exposed tp", "exposed-tp"},
     {FaultKind::kExposedDp, "exposed dp", "exposed-dp"},
     {FaultKind::kExposedPp, "exposed pp", "exposed-pp"},
     {FaultKind::kExposedEp, "exposed ep", "exposed-ep"},
     {FaultKind::kExposedCp, "exposed cp", "exposed-cp"},
     {FaultKind::kInputBound, "input-bound", "input-bound"},
     {FaultKind::kHostSync, "host sync", "host-sync"},
     {FaultKind::kLaunchBound, "launch-bound", "launch-bound"},
     {FaultKind::kPythonGc, "python gc", "python-gc"},
     {FaultKind::kCheckpoint, "checkpoint stall", "checkpoint-stall"}}};

struct MadeFault {
  FaultKind kind = FaultKind::kNone;
  int rank = 0;
  double size = 1.0;
  // The same work dealt evenly: of uneven lengths, every rank has the mean of its step.
  bool is_mended = false;
};

// How a job becomes a run.
struct MadePlan {
  int layers = 2;        // of a rank
  int microbatches = 4;  // of a step
  int steps = 5;
  bool folds = false;           // a pass of a layer is three kernels
  bool reads_loss = true;       // the host waits for each step's end; else for the one before
  bool hides_experts = true;    // two microbatches take turns
  double noise = 0.015;         // of each kernel's time, one standard deviation
  double host_load = 0.0;       // 0: launches take what they take; else this share of the step
  Seconds farthest_clock = {};  // clocks of ranks differ by up to that
  double most_drift = 0.0;      // and by that share of time
  std::uint64_t seed = 1;
};

// The run with the fault. What is random in it is the same with and without.
MadeRun made_run(const MadeJob& job, const MadePlan& plan, const MadeFault& fault);

// From the first start of anything of a step to that of the next, on the true clock: the mean of
// all but the first and the last.
Seconds true_step(const MadeRun& run);

}  // namespace sextant::tests
