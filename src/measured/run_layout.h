// The layout of a runs row: what the columns and flags say, the framework's defaults for the rest.
//
// Rules for what is not stated, each listed in `assumed` where it was used:
//   tp, pp      1 on one device or under ZeRO-3; else the row is refused. pp alone: 1.
//   ep          refused where DeepEP runs, which is for more than one; else 1.
//   sp          flags; else tp > 1 for Megatron from 2022 on and for torchtitan, no elsewhere.
//   dp          what is left of the world.
//   etp         1 in NVIDIA's recipes from 25.04 on; before, tp where it divides (Megatron's own).
//   micro       global_batch / (dp · grad_accum) where accumulation is stated or the trainer does
//               not accumulate; else 1. JAX trainers count it a chip: there it follows from the
//               global batch.
//   recompute   the framework's default (none but for MaxText).
//   stages      layers dealt as describe::plausible_split does; with MTP layers the last stage is
//               lighter.
//   attention   flash; fused softmax before 2023, when these trainers did not have it yet; cuDNN's
//               where Transformer Engine runs on Hopper and later.
//   dispatcher  DeepEP in NVIDIA's recipes from 25.09 on where experts are spread over nodes.
//   graphs      one of the whole iteration, and expert messages behind another microbatch, in
//               NVIDIA's recipes for experts on racks from 26.06 on. Graphs of parts of an expert
//               layer count as none: the host still waits for the router.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "describe/assumption.h"
#include "describe/layout/layout.h"
#include "describe/model/model.h"
#include "measured/run_cells.h"

namespace sextant::measured {

struct RunLayout {
  describe::Layout layout;
  describe::Framework framework = describe::Framework::kOther;
  std::set<std::string, std::less<>> stated;  // keys that the row states
  std::string refusal;                        // "": none
  std::vector<std::string> beyond_layout;     // what a Layout cannot say
  describe::Assumptions assumed;
};

// REQUIRES: run.devices.
RunLayout run_layout(const RunCells& run, const describe::Model& model);

// Which activations the row computes again; `assumed` takes what was read into free text.
describe::RecomputePolicy run_recompute(const RunCells& run, describe::Assumptions& assumed);

// How the row deals its layers to pp*vpp stages.
describe::PipelineSplit run_split(const RunCells& run, const describe::Model& model,
                                  const describe::Layout& layout, describe::Assumptions& assumed);

// Layers of each stage of a Megatron pipeline layout: "Et*4|(t*4|)*14tmL" → 4, 4, …, 1. Empty where
// the text is none, or has more than 10,000 places.
std::vector<std::int64_t> stages_of_pipeline_layout(std::string_view text);

}  // namespace sextant::measured
