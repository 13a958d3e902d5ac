// How long a pipeline takes, without simulating it, where a formula gives exactly that.
//
// Every makespan here is the longest path through the waits of compile.h, found by hand; the
// property tests beside this file hold each to the simulation of its table. Where no formula is
// known to be exact the answer is nothing, and what is only a bound is called one.
// Left out everywhere: PipelineCosts::microbatch_scale, gradient reduction, `overlap` below 1.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "schedule/generate.h"
#include "schedule/simulate.h"

namespace sextant::schedule {

// Every stage alike, every transfer alike and overlapped.
struct EqualStages {
  StageCosts stage;
  Seconds forward_transfer;
  Seconds backward_transfer;
};

// With f, b, i, w the costs of a stage (of a chunk, where vpp > 1), T = f + b, t the sum of both
// transfers, m microbatches:
//   gpipe              (m + pp − 1)·T + (pp − 1)·t
//   1f1b               (m + pp − 1)·T + (pp − 1 + m − 1 − ⌈(m − 1) / pp⌉)·t: a rank's slack is one
//                      microbatch, so nearly each hop of each microbatch shows
//   looped-bfs         the sum over both directions of (vpp − 1)·max(m·x, pp·(x + t_x)) +
//                      (pp − 1)·(x + t_x) + m·x, with x = f or b
//   interleaved-1f1b   m ≥ pp: (m·vpp + pp − 1)·T + (pp·vpp − 1)·t;
//                      m < pp, transfers free: (m·vpp + pp − 1 + (vpp − 1)·(pp − m))·T.
//                      Nothing where a transfer does not hide (forward above b or backward above
//                      f), where m ≥ pp is no multiple of pp and transfers are not free, or with a
//                      `group` or `pairs` of its own
//   interleaved-zb     m a multiple of pp, transfers free:
//                      m·vpp·(f + i + w) + (pp − 1)·max(f, i, f + i − w)
//   zbv                f = i = w = c, transfers free, m ≥ 2·pp − 1: (6·m + pp − 1)·c
//   dualpipe           f = i = w = c, b = 2·c, transfers free, pp > 1: (3·m + pp − 2)·c
//   dualpipev          the same: (6·m + 2·(pp − 1))·c
// Nothing too where action_table refuses the shape.
std::optional<Seconds> equal_stage_makespan(const ScheduleShape& shape, const EqualStages& given);

// GPipe with any stages and any transfers: each direction takes every stage once and the slowest
// m − 1 times more. Overlapped and blocking.
// REQUIRES (here and below): as simulate(); microbatches ≥ 1.
Seconds gpipe_makespan(const PipelineCosts& costs, std::int64_t microbatches);

// 1F1B with any stages, in O(pp): exact where transfers are free or blocking, nothing otherwise.
//
// The longest path fills down to some stage x, keeps to it, and drains from it:
//   fill(x) + (m − w)·(f_x + b_x) + drain(x),   w = min(m, pp − x)
// with w forwards before x's first backward, where fill(x), until that backward starts, is max(sum
// of f up to x + (w − 1)·largest f up to x, fill(x + 1) + b of x + 1), and drain(x), after the last
// forward, the same with b and f exchanged. Where w = m the path turns at x at once, and one of the
// two ends is the first argument of its max. `scratch` keeps its space between calls, so that a
// search need not allocate.
std::optional<Seconds> one_f_one_b_makespan(const PipelineCosts& costs, std::int64_t microbatches,
                                            std::vector<double>& scratch);

// The same where transfers are overlapped. lower: the path above, with the transfers of its fill
// and drain. upper: as if they were blocking. For equal stages the truth is within ⌈(m − 1) / pp⌉ +
// 1 transfers each way of upper (and equal_stage_makespan has it exactly). Seen over random
// pipelines of pp ≤ 8, m ≤ 40: stages within ±10 % and transfers a tenth of a forward: lower 0.9 %
// too low on average, at most 4 %, upper 2.1 % too high, at most 6 %; one stage slower than each
// other by a transfer each way: lower exact in 99 of 100, at most 2 % too low.
struct MakespanBounds {
  Seconds lower;
  Seconds upper;
};
MakespanBounds one_f_one_b_bounds(const PipelineCosts& costs, std::int64_t microbatches,
                                  std::vector<double>& scratch);

// Interleaved 1F1B with any stages, transfers overlapped (else folded into the stages, as blocking
// is exactly that): never above the simulation, equal to it for equal stages with free transfers.
// It follows one rank from its first backward to its last forward, and does not see paths that
// change rank in between. Seen over random shapes of pp ≤ 8, vpp ≤ 4, m ≤ 8·pp: stages within ±10 %
// of one another: mean 0.6 % too low, at most 5 %; a first stage up to 1.5 and a last up to twice
// as slow: 1.3 %, at most 12 %; within ±50 %: 3.2 %, at most 20 %. REQUIRES: action_table takes the
// shape; pp > 1, group 0, no pairs, and
// microbatches a multiple of pp.
Seconds interleaved_lower_bound(const ScheduleShape& shape, const PipelineCosts& costs);

}  // namespace sextant::schedule
