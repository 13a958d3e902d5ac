#include "describe/layout/pipeline_split.h"

#include <algorithm>
#include <numeric>

namespace sextant::describe {

std::optional<std::vector<std::int64_t>> layers_of_stages(std::int64_t layers,
                                                          const Layout& layout) {
  const std::int64_t stages = layout.stages();
  const PipelineSplit& split = layout.split;
  if (!split.layers_per_stage.empty()) {
    const bool complete = static_cast<std::int64_t>(split.layers_per_stage.size()) == stages &&
                          std::accumulate(split.layers_per_stage.begin(),
                                          split.layers_per_stage.end(), std::int64_t{0}) == layers;
    return complete ? std::optional(split.layers_per_stage) : std::nullopt;
  }
  const std::int64_t places = layers + (split.count_embedding ? 1 : 0) + (split.count_loss ? 1 : 0);
  if (stages < 1 || stages > places || places % stages != 0) {
    return std::nullopt;
  }
  std::vector<std::int64_t> counts(static_cast<std::size_t>(stages), places / stages);
  counts.front() -= split.count_embedding ? 1 : 0;
  counts.back() -= split.count_loss ? 1 : 0;
  return counts;
}

LayerRange layers_of_stage(std::int64_t layers, const Layout& layout, std::int64_t stage) {
  const PipelineSplit& split = layout.split;
  if (!split.layers_per_stage.empty()) {
    const auto place = split.layers_per_stage.begin() + stage;
    return {std::accumulate(split.layers_per_stage.begin(), place, std::int64_t{0}), *place};
  }
  const std::int64_t stages = layout.stages();
  const std::int64_t embedding = split.count_embedding ? 1 : 0;
  const std::int64_t loss = split.count_loss ? 1 : 0;
  const std::int64_t places = (layers + embedding + loss) / stages;
  const std::int64_t first = stage == 0 ? 0 : stage * places - embedding;
  const std::int64_t last = stage == stages - 1 ? layers : (stage + 1) * places - embedding;
  return {first, last - first};
}

PipelineSplit plausible_split(std::int64_t layers, std::int64_t stages) {
  PipelineSplit split;
  if (stages < 1 || stages > layers + 2 || layers % stages == 0) {
    return split;
  }
  if ((layers + 2) % stages == 0) {
    split.count_embedding = true;
    split.count_loss = true;
    return split;
  }
  if ((layers + 1) % stages == 0) {
    split.count_loss = true;
    return split;
  }
  // Every stage gets the ceiling; what is too much is taken off the ends, last and first in turn.
  const std::int64_t most = (layers + stages - 1) / stages;
  split.layers_per_stage.assign(static_cast<std::size_t>(stages), most);
  std::int64_t surplus = most * stages - layers;
  for (std::size_t i = 0; surplus > 0; ++i, --surplus) {
    const std::size_t from_end = i / 2;
    const std::size_t stage =
        i % 2 == 0 ? static_cast<std::size_t>(stages) - 1 - from_end : from_end;
    split.layers_per_stage[stage] -= 1;
  }
  return split;
}

std::int64_t padded_vocab(std::int64_t vocab, std::int64_t tp, Framework framework) {
  // Megatron's --make-vocab-size-divisible-by default.
  constexpr std::int64_t kMegatronMultiple = 128;
  const bool megatron =
      framework == Framework::kMegatronCore || framework == Framework::kMegatronDeepspeed;
  return round_up(vocab, tp * (megatron ? kMegatronMultiple : 1));
}

}  // namespace sextant::describe
