// Which layers hold experts, as Megatron writes it: "2" (every second, the first of each pair) or a
// list such as "([0]*3+[1]*58)".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sextant::emit {

// The most layers that are read.
inline constexpr std::int64_t kMostMegatronLayers = 100'000;

// One answer a layer. An Error where the text is neither form, or lists another number of layers.
Result<std::vector<bool>> parse_expert_layers(std::string_view text, std::int64_t layers);

// The list form, runs gathered.
std::string expert_layers_text(const std::vector<bool>& expert);

}  // namespace sextant::emit
