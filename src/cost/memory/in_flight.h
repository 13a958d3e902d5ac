// How many microbatches a pipeline rank keeps activations of at its fullest moment.
#pragma once

#include <cstdint>

#include "describe/layout/layout.h"

namespace sextant::cost {

// Microbatches of stage `stage` whose forward has run and whose backward has not, when its rank
// holds most.
//   GPipe, looped BFS    all of them
//   1F1B                 as many as stages from here to the end. Source: Narayanan et al. 2021,
//                        arXiv:2104.04473, section 2.2.1
//   interleaved 1F1B     the warm-up of Megatron's schedule, 2(pp − rank − 1) + (vpp − 1)·pp, and
//   one
//                        more, dealt to chunks in groups of pp. Source: Megatron-LM d98e8a64,
//                        pipeline_parallel/schedules.py (get_pp_rank_microbatches)
//   ZB-V, DualPipeV      as 1F1B over 2·pp stages. Source: Qi et al. 2024, arXiv:2405.15362
//   DualPipe             each direction as 1F1B with half of the microbatches: pp + 1 in all.
//                        Source: DeepSeek-V3, arXiv:2412.19437, table 2
// REQUIRES: 0 ≤ stage < layout.stages(), microbatches ≥ 1.
std::int64_t in_flight(const describe::Layout& layout, std::int64_t microbatches,
                       std::int64_t stage);

}  // namespace sextant::cost
