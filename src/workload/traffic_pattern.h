// The on-off pattern of one microbatch on one rank: bursts of communication and the work between
// them, in the order of execution. Without times: those are for cost/ and step/.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "describe/layout/job.h"
#include "workload/collective.h"
#include "workload/shard.h"
#include "workload/stages.h"

namespace sextant::workload {

struct Burst {
  Phase phase = Phase::kForward;
  std::string_view what;
  GroupKind group = GroupKind::kTp;
  std::int64_t layer = -1;  // in the model; −1: embedding, head, pipeline
  Bytes bytes;              // that leave the rank
  Hides hides = Hides::kNothing;
  Flops work_before;  // computed since the burst before it
};

struct Pattern {
  std::vector<Burst> bursts;
  Flops work_after;  // after the last burst

  [[nodiscard]] Flops work() const;
  [[nodiscard]] Bytes bytes() const;
};

// Forward, then (where the job trains) backward with what is computed again, layer by layer. Data
// parallelism is left out but for FSDP's gathers and scatters, which belong to every microbatch.
// REQUIRES: check_rules(job) finds nothing; stage and shard are its.
Pattern microbatch_pattern(const describe::Job& job, const Stage& stage, const Shard& shard);

}  // namespace sextant::workload
