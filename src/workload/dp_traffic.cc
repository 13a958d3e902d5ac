#include "workload/dp_traffic.h"

#include <algorithm>

#include "base/integers.h"
#include "workload/parameter_shapes.h"

namespace sextant::workload {

namespace {

// lcm(number, power): what the number lacks of factors two is made up. REQUIRES: power = 2^k.
std::int64_t lcm_with_power_of_two(std::int64_t number, std::int64_t power) {
  const auto common = std::min<std::int64_t>(number & -number, power);
  return capped(number, power / common);
}

}  // namespace

Buckets even_buckets(std::int64_t elements, std::int64_t most, std::int64_t shards) {
  const std::int64_t count = elements > most ? divided_up(elements, most) : 1;
  const std::int64_t part = divided_up(count > 1 ? divided_up(elements, count) : elements, shards);
  return {.count = count, .elements = part * shards, .part = part};
}

Buckets megatron_buckets(const Scene& at, const StageView& stage, std::int64_t elements,
                         const CopyGroups& groups) {
  // Source: Megatron-LM 00119989, distributed_data_parallel_config.py (bucket_size) and
  // distributed_data_parallel.py, which cuts nothing on later pipeline ranks and model chunks.
  constexpr std::int64_t kLeastBucket = 40'000'000;
  constexpr std::int64_t kBucketPerCopy = 1'000'000;
  // A bucket is closed once it holds so many: what is left over is in the last of them.
  constexpr std::int64_t kAlignment = 128;
  const bool cut = stage.index == 0 && at.reduce == Hides::kNextLayers;
  const std::int64_t size = std::max(kLeastBucket, capped(kBucketPerCopy, groups.copies));
  const std::int64_t count = cut && elements > size ? elements / size : 1;
  const std::int64_t held = count > 1 ? divided_up(elements, count) : elements;
  if (at.layout.zero == describe::Zero::kNone) {
    return {.count = count, .elements = held, .part = held};
  }
  const std::int64_t padded = round_up(held, lcm_with_power_of_two(groups.copies, kAlignment));
  return {.count = count, .elements = padded, .part = padded / groups.shards};
}

namespace {

// Adds up what no tensor-parallel rank has a part of only.
class WholeElements {
 public:
  void operator()(const ParameterShape& shape) {
    if (shape.split == Split::kWhole && shape.experts == 0) {
      sum_ += shape.count * shape.rows * shape.columns;
    }
  }
  [[nodiscard]] std::int64_t sum() const { return sum_; }

 private:
  std::int64_t sum_ = 0;
};

}  // namespace

StepSums step_sums(const Scene& at, const describe::Block& block) {
  StepSums sums;
  if (!at.weight_gradients) {
    sums.trained.dense = at.job.lora ? lora_weights(at.model, block, *at.job.lora, at.shard) : 0;
    return sums;
  }
  sums.trained = block_weights(at.model, block, at.shard);
  if (sums_whole_parameters(at)) {
    WholeElements whole;
    for_each_parameter(at.model, block, [&whole](const ParameterShape& shape) { whole(shape); });
    sums.whole = whole.sum();
  }
  return sums;
}

StepSums end_sums(const Scene& at, const StageView& stage) {
  StepSums sums;
  if (!at.weight_gradients) {
    return sums;
  }
  WholeElements whole;
  const auto add = [&whole](const ParameterShape& shape) { whole(shape); };
  if (stage.embedding) {
    sums.trained += embedding_weights(at.model, at.shard);
    for_each_embedding_parameter(at.model, at.shard.vocab, add);
  }
  if (stage.head) {
    sums.trained += head_weights(at.model, at.shard);
    for_each_head_parameter(at.model, at.shard.vocab, false, add);
  }
  sums.whole = whole.sum();
  if (stage.mtp_layers > 0) {
    WholeElements depth;
    const auto each = [&depth](const ParameterShape& shape) { depth(shape); };
    for_each_mtp_parameter(at.model, each);
    for_each_parameter(at.model, at.model.blocks[static_cast<std::size_t>(at.model.mtp_block)],
                       each);
    sums.trained += mtp_weights(at.model, at.shard) * stage.mtp_layers;
    sums.whole += depth.sum() * stage.mtp_layers;
  }
  return sums;
}

StepSums step_sums(const Scene& at, const StageView& stage) {
  StepSums sums = end_sums(at, stage);
  for (std::size_t block = 0; block < stage.blocks.size(); ++block) {
    if (stage.blocks[block] > 0) {
      sums += step_sums(at, at.model.blocks[block]) * stage.blocks[block];
    }
  }
  return sums;
}

}  // namespace sextant::workload
