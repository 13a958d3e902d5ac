// Which layers each pipeline stage holds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "describe/layout/layout.h"

namespace sextant::describe {

// Layers of each of the pp*vpp stages in model order; nothing where the split does not work out.
// Explicit counts must sum to `layers`; an even split deals (layers + counted embedding + counted
// loss) equally and takes the counted places off the first and last stage.
std::optional<std::vector<std::int64_t>> layers_of_stages(std::int64_t layers,
                                                          const Layout& layout);

// The layers of one stage. REQUIRES: layers_of_stages finds a split, 0 ≤ stage < layout.stages().
struct LayerRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
LayerRange layers_of_stage(std::int64_t layers, const Layout& layout, std::int64_t stage);

// The split that a job with these counts most plausibly ran: even where it divides, else embedding
// and loss counted, else loss counted, else as even as possible with the lighter stages at the two
// ends.
PipelineSplit plausible_split(std::int64_t layers, std::int64_t stages);

// The vocabulary as the framework lays it out: padded up to a multiple of 128·tp by the Megatron
// family, of tp elsewhere. Source: Megatron-LM d98e8a64, megatron/training/vocab_utils.py.
std::int64_t padded_vocab(std::int64_t vocab, std::int64_t tp, Framework framework);

}  // namespace sextant::describe
