#include "workload/weights.h"

#include <algorithm>

#include "workload/parameter_shapes.h"

namespace sextant::workload {
namespace {

using describe::Attention;
using describe::Block;
using describe::DenseFfn;
using describe::LoraModule;
using describe::Model;

// Adds up what one rank holds of each parameter.
class Held {
 public:
  explicit Held(const Shard& shard) : shard_(shard) {}
  void operator()(const ParameterShape& shape) {
    const std::int64_t ranks = shape.experts > 0 ? shard_.etp : shard_.tp;
    const std::int64_t elements =
        shape.count * shape.local_rows(ranks) * shape.local_columns(ranks);
    if (shape.experts > 0) {
      weights_.experts += elements * divided_up(shape.experts, shard_.ep);
    } else {
      weights_.dense += elements;
    }
  }
  [[nodiscard]] const Weights& weights() const { return weights_; }

 private:
  const Shard& shard_;
  Weights weights_;
};

// An adapter beside a matrix of in × out: rank · (in + out), the sharded side divided.
std::int64_t adapter(const describe::Lora& lora, std::int64_t in, std::int64_t out) {
  return lora.rank * (in + out);
}

}  // namespace

Weights block_weights(const Model& model, const Block& block, const Shard& shard) {
  Held held(shard);
  for_each_parameter(model, block, [&held](const ParameterShape& shape) { held(shape); });
  return held.weights();
}

Weights embedding_weights(const Model& model, const Shard& shard) {
  Held held(shard);
  for_each_embedding_parameter(model, shard.vocab,
                               [&held](const ParameterShape& shape) { held(shape); });
  return held.weights();
}

Weights head_weights(const Model& model, const Shard& shard) {
  Held held(shard);
  const bool own = !model.tied_head || shard.pp > 1;
  for_each_head_parameter(model, shard.vocab, own,
                          [&held](const ParameterShape& shape) { held(shape); });
  return held.weights();
}

Weights mtp_own_weights(const Model& model, const Shard& shard) {
  Held held(shard);
  for_each_mtp_parameter(model, [&held](const ParameterShape& shape) { held(shape); });
  return held.weights();
}

Weights mtp_weights(const Model& model, const Shard& shard) {
  if (model.mtp_layers == 0) {
    return {};
  }
  Weights weights = mtp_own_weights(model, shard);
  weights += block_weights(model, model.blocks[static_cast<std::size_t>(model.mtp_block)], shard);
  return weights;
}

Weights stage_weights(const Model& model, const Stage& stage, const Shard& shard) {
  Weights weights;
  for (std::size_t block = 0; block < stage.blocks.size(); ++block) {
    if (stage.blocks[block] > 0) {
      weights += block_weights(model, model.blocks[block], shard) * stage.blocks[block];
    }
  }
  if (stage.embedding) {
    weights += embedding_weights(model, shard);
  }
  if (stage.head) {
    weights += head_weights(model, shard);
    weights += mtp_weights(model, shard) * stage.mtp_layers;
  }
  return weights;
}

std::int64_t lora_weights(const Model& model, const Block& block, const describe::Lora& lora,
                          const Shard& shard) {
  const auto adapts = [&lora](LoraModule module) {
    return std::find(lora.modules.begin(), lora.modules.end(), module) != lora.modules.end();
  };
  std::int64_t size = 0;
  if (const auto* a = std::get_if<Attention>(&block.mixer)) {
    const std::int64_t queries = divided_up(a->heads, shard.tp) * a->head_dim;
    const std::int64_t keys = local_kv_heads(a->kv_heads, shard.tp) * a->head_dim;
    size += adapts(LoraModule::kQkv) ? adapter(lora, model.hidden, queries + 2 * keys) : 0;
    size += adapts(LoraModule::kAttentionOutput) ? adapter(lora, queries, model.hidden) : 0;
  }
  if (const auto* ffn = std::get_if<DenseFfn>(&block.ffn)) {
    const std::int64_t width = divided_up(ffn->width, shard.tp);
    const std::int64_t ups = ffn->gated ? 2 : 1;
    size += adapts(LoraModule::kFc1) ? adapter(lora, model.hidden, ups * width) : 0;
    size += adapts(LoraModule::kFc2) ? adapter(lora, width, model.hidden) : 0;
  }
  return size;
}

}  // namespace sextant::workload
