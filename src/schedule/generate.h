// The action table of a schedule: who runs which microbatch of which stage, in which order.
//
// Sources: GPipe, Huang et al. 2018, arXiv:1811.06965; 1F1B and interleaved 1F1B, Narayanan et al.
// 2021, arXiv:2104.04473; looped BFS, Lamy-Poirier 2022, arXiv:2211.05953; zero bubble and ZB-V, Qi
// et al. 2023 and 2024, arXiv:2401.10241 and 2405.15362; DualPipe, DeepSeek-V3, arXiv:2412.19437.
// Where there are tables of PyTorch's (all but plain 1F1B and DualPipe) the order is theirs, action
// for action: tests/schedule_truth_test.cc. DualPipe's is that of DeepSeek's own program.
// Stage s runs on rank s mod pp; under ZB-V and DualPipeV the second round goes back up, stage
// 2·pp − 1 − r on rank r; under DualPipe the first half of the microbatches meets stage s on rank
// s, the second half on rank pp − 1 − s. Nothing is said of gradient reduction.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "describe/layout/layout.h"
#include "schedule/actions.h"

namespace sextant::schedule {

struct ScheduleShape {
  describe::Schedule schedule = describe::Schedule::k1f1b;
  std::int64_t pp = 1;
  std::int64_t vpp = 1;
  std::int64_t microbatches = 1;
  // Interleaved schedules only: how many microbatches pass through one chunk before the next chunk
  // takes its turn (Megatron's microbatch_group_size_per_vp_stage). 0: pp where that divides the
  // microbatches, else PyTorch's equal rounds (below).
  std::int64_t group = 0;
  // Interleaved 1F1B only: forward and backward of the steady phase share a slot, after one more
  // warm-up forward, as Megatron does to hide expert exchanges (overlap_moe_expert_parallel_comm).
  bool pairs = false;
};

// The shape that a layout and its microbatches ask for.
ScheduleShape shape_of(const describe::Layout& layout, std::int64_t microbatches);

// An Error where the schedule cannot run the shape:
//   gpipe, 1f1b          vpp = 1; any microbatches
//   interleaved-1f1b,    vpp ≥ 1. Megatron wants microbatches in multiples of pp. PyTorch also
//   interleaved-zb       takes what divides into max(1, ⌊microbatches / pp⌋) equal rounds (at
//                        pp 4: 6 is one round of 6, 9 is refused): so do we. With a `group` of its
//                        own, Megatron's rule: pp ≤ group ≤ microbatches, and a last group that is
//                        full or at least pp
//   looped-bfs           vpp ≥ 1; any microbatches
//   zbv                  vpp = 2; any microbatches
//   dualpipev            vpp = 2, microbatches ≥ 2·pp
//   dualpipe             vpp = 1; pp even and microbatches even and ≥ 2·pp; pp = 1 is plain 1F1B
// and where pp · vpp · microbatches is above ten million.
Result<bool> check_shape(const ScheduleShape& shape);
Result<ActionTable> action_table(const ScheduleShape& shape);

}  // namespace sextant::schedule
