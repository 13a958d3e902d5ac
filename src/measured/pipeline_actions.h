// Action tables of pipeline schedules: "2F5" = stage 2, forward, microbatch 5.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "measured/row.h"

namespace sextant::measured {

// One slot: "" idle, "2F5" one action (F, B, I, W), "0REDUCE_GRAD", "(2F3;1B1)OVERLAP_F_B" two at
// once.
Result<PipelineSlot> parse_pipeline_slot(std::string_view text, std::string_view where);

// When the last rank is done, at unit costs: F = I = W = 1, B = 2, an overlapped pair the longer of
// its two, reductions and transfers 0. Each rank works its slots off in order; F of a stage waits
// for F of the stage before, B and I for F of their own stage and B or I of the stage after, W for
// I. A table whose ranks wait for one another for ever is an Error; `name` is the schedule's.
Result<double> pipeline_makespan(const std::vector<std::vector<PipelineSlot>>& ranks,
                                 std::string_view name, std::string_view where);

}  // namespace sextant::measured
