// Alpa's way to a plan (Zheng et al. 2022, arXiv:2201.12023), on our cost leaf.
//
// Stages are runs of layers, each on a submesh: 1, 2, 4, … devices of a node, or whole nodes. Every
// run on every submesh under every logical shape (dp × tp) is priced; inside, an integer program
// chooses how each group of operators is split (intra_op.h). Dynamic programming then cuts the
// model into stages: for each bound on the slowest stage the least sum of stage times, of those the
// least Σ t + (B − 1) · max t over B microbatches (stage_cuts.h).
//
// Held to the space that it shares with ours: one logical shape for all stages, and what is not dp,
// tp, pp or cuts stays as the problem's layout has it. Where the integer program would split groups
// of a stage in different ways, which no Layout can say, the split of all by tp is taken; how often
// is counted. Of the cuts of each logical shape, the one whose whole step is fastest is the plan.
// No clustering of layers, no pruning of submeshes: as the paper states the problem.
#pragma once

#include "search/baselines/baselines.h"

namespace sextant::search {

// Whole nodes that make a submesh: any number (the paper), or 2, 4, 8, … (its code's default,
// alpa-projects/alpa, AutoStageOption).
enum class Submeshes { kEvery, kPowersOfTwo };

struct AlpaResult : BaselineResult {
  std::int64_t programs = 0;  // integer programs solved, equal ones once
  std::int64_t mixed = 0;     // of them, those that would split groups in different ways
};

// Everything but dp, tp, pp and the cuts fixed at the value of the problem's layout: what both
// search.
Problem shared_space(const Problem& problem);

// A call: one run of layers on one submesh under one logical shape, shared by nothing, as Alpa
// compiles and profiles each.
AlpaResult alpa(const Problem& problem, Submeshes submeshes);

}  // namespace sextant::search
