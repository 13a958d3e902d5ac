// Megatron's little language for pipeline stages: "Et*3|(t|)*2,tmL".
//
// E the embedding, t a decoder layer, m a multi-token-prediction layer, L head and loss, '|' the
// end of a stage; "x*3" and "(…)*3" repeat, commas and spaces mean nothing. Stages stand in model
// order: stage s belongs to pipeline rank s mod pp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sextant::emit {

// Decoder layers of each stage. An Error where the text is no such layout, does not open with E and
// close with L, or has more than 65,536 parts.
Result<std::vector<std::int64_t>> parse_pipeline_layout(std::string_view text);

// The shortest plain text of these stages, with `mtp_layers` before the loss. REQUIRES: at least
// one stage, no negative number.
std::string pipeline_layout_text(std::span<const std::int64_t> layers_per_stage,
                                 std::int64_t mtp_layers);

}  // namespace sextant::emit
