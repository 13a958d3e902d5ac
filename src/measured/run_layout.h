// The layout of a runs row: what the columns and flags say, the framework's defaults for the rest.
//
// Rules for what is not stated, each listed in `assumed` where it was used:
//   tp, pp     1 on one device or under ZeRO-3; else the row is refused. pp alone: 1.
//   sp         flags; else tp > 1 for Megatron from 2022 on and for torchtitan, no elsewhere.
//   dp         what is left of the world.
//   etp        tp for Megatron's experts where it divides (its default), else 1.
//   micro      global_batch / (dp · grad_accum) where accumulation is stated or the trainer does
//   not
//              accumulate; else 1. JAX trainers count it a chip: there it follows from the global
//              batch.
//   recompute  the framework's default (none but for MaxText).
//   stages     layers dealt as describe::plausible_split does; with MTP layers the last stage is
//   lighter. kernel     flash attention; fused softmax before 2023 (flash attention was not in
//   these trainers yet).
#pragma once

#include <string>
#include <vector>

#include "describe/layout/layout.h"
#include "describe/model/model.h"
#include "measured/run_cells.h"

namespace sextant::measured {

struct RunLayout {
  describe::Layout layout;
  describe::Framework framework = describe::Framework::kOther;
  std::string refusal;                     // "": none
  std::vector<std::string> beyond_layout;  // what a Layout cannot say
  std::vector<std::string> assumed;
};

// REQUIRES: run.devices.
RunLayout run_layout(const RunCells& run, const describe::Model& model);

// Which activations the row computes again; `assumed` takes what was read into free text.
describe::RecomputePolicy run_recompute(const RunCells& run, std::vector<std::string>& assumed);

// How the row deals its layers to pp*vpp stages.
describe::PipelineSplit run_split(const RunCells& run, const describe::Model& model,
                                  const describe::Layout& layout,
                                  std::vector<std::string>& assumed);

// Layers of each stage of a Megatron pipeline layout: "Et*4|(t*4|)*14tmL" → 4, 4, …, 1. Empty where
// the text is none, or has more than 10,000 places.
std::vector<std::int64_t> stages_of_pipeline_layout(std::string_view text);

}  // namespace sextant::measured
