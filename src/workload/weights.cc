#include "workload/weights.h"

#include <algorithm>

namespace sextant::workload {
namespace {

using describe::Attention;
using describe::Block;
using describe::DenseFfn;
using describe::GatedDeltaNet;
using describe::LatentAttention;
using describe::LoraModule;
using describe::Mamba2;
using describe::Model;
using describe::MoeFfn;
using describe::QkNorm;

std::int64_t norm_size(const Model& model, std::int64_t width) {
  return width * ((model.norm.has_weight ? 1 : 0) + (model.norm.has_bias ? 1 : 0));
}

std::int64_t mixer_size(const Model& /*model*/, const std::monostate& /*none*/,
                        const Shard& /*shard*/) {
  return 0;
}

std::int64_t mixer_size(const Model& model, const Attention& a, const Shard& shard) {
  const std::int64_t h = model.hidden;
  const std::int64_t queries = divided_up(a.heads, shard.tp) * a.head_dim;
  const std::int64_t keys = local_kv_heads(a.kv_heads, shard.tp) * a.head_dim;
  const std::int64_t projected = queries * (a.output_gate ? 2 : 1);
  std::int64_t size = h * (projected + 2 * keys) + queries * h;
  if (a.qkv_bias) {
    size += projected + 2 * keys;
  }
  if (a.output_bias) {
    size += h;
  }
  if (a.qk_norm == QkNorm::kPerHead) {
    size += 2 * a.head_dim;
  } else if (a.qk_norm == QkNorm::kWholeProjection) {
    size += queries + keys;
  }
  return size + (a.sinks ? divided_up(a.heads, shard.tp) : 0);
}

std::int64_t mixer_size(const Model& model, const LatentAttention& a, const Shard& shard) {
  const std::int64_t h = model.hidden;
  const std::int64_t heads = divided_up(a.heads, shard.tp);
  const std::int64_t queries = heads * (a.qk_nope_head_dim + a.qk_rope_head_dim);
  std::int64_t size =
      a.q_lora_rank > 0 ? h * a.q_lora_rank + a.q_lora_rank + a.q_lora_rank * queries : h * queries;
  size += h * (a.kv_lora_rank + a.qk_rope_head_dim) + a.kv_lora_rank +
          a.kv_lora_rank * heads * (a.qk_nope_head_dim + a.v_head_dim);
  size += heads * a.v_head_dim * h;
  if (a.indexer.heads > 0) {
    const std::int64_t input = a.q_lora_rank > 0 ? a.q_lora_rank : h;
    size += input * a.indexer.heads * a.indexer.head_dim + h * a.indexer.head_dim +
            2 * a.indexer.head_dim + h * a.indexer.heads;
  }
  return size;
}

std::int64_t mixer_size(const Model& model, const Mamba2& m, const Shard& shard) {
  const std::int64_t h = model.hidden;
  const std::int64_t heads = divided_up(m.heads, shard.tp);
  const std::int64_t inner = heads * m.head_dim;
  const std::int64_t states = divided_up(m.groups, shard.tp) * m.state * 2;
  const std::int64_t projected = inner * 2 + states + heads;
  const std::int64_t taps = m.conv_kernel + (m.conv_bias ? 1 : 0);
  const std::int64_t biases = m.projection_bias ? projected + h : 0;
  return h * projected + (inner + states) * taps + heads * 3 + inner + inner * h + biases;
}

std::int64_t mixer_size(const Model& model, const GatedDeltaNet& g, const Shard& shard) {
  const std::int64_t h = model.hidden;
  const std::int64_t keys = divided_up(g.key_heads, shard.tp) * g.key_head_dim;
  const std::int64_t value_heads = divided_up(g.value_heads, shard.tp);
  const std::int64_t values = value_heads * g.value_head_dim;
  return h * (keys * 2 + values * 2) + h * value_heads * 2 + (keys * 2 + values) * g.conv_kernel +
         value_heads * 2 + g.value_head_dim + values * h;
}

struct FfnShape {
  std::int64_t input = 0;
  std::int64_t width = 0;  // on this rank
  bool gated = true;
  bool bias = false;
};

std::int64_t ffn_size(const FfnShape& shape) {
  const std::int64_t ups = shape.gated ? 2 : 1;
  const std::int64_t biases = shape.bias ? shape.width * ups + shape.input : 0;
  return shape.input * shape.width * (ups + 1) + biases;
}

Weights ffn_weights(const Model& /*model*/, const std::monostate& /*none*/,
                    const Shard& /*shard*/) {
  return {};
}

Weights ffn_weights(const Model& model, const DenseFfn& ffn, const Shard& shard) {
  return {.dense = ffn_size({model.hidden, divided_up(ffn.width, shard.tp), ffn.gated, ffn.bias}),
          .experts = 0};
}

Weights ffn_weights(const Model& model, const MoeFfn& ffn, const Shard& shard) {
  const std::int64_t h = model.hidden;
  const std::int64_t input = ffn.latent_width > 0 ? ffn.latent_width : h;
  Weights weights;
  weights.dense = h * ffn.experts +
                  ffn.experts * ((ffn.router_bias ? 1 : 0) + (ffn.correction_bias ? 1 : 0)) +
                  2 * h * ffn.latent_width;
  if (ffn.shared_width > 0) {
    weights.dense += ffn_size({h, divided_up(ffn.shared_width, shard.tp), ffn.gated, false}) +
                     (ffn.shared_gate ? h : 0);
  }
  weights.experts = divided_up(ffn.experts, shard.ep) *
                    ffn_size({input, divided_up(ffn.width, shard.etp), ffn.gated, ffn.expert_bias});
  return weights;
}

// An adapter beside a matrix of in × out: rank · (in + out), the sharded side divided.
std::int64_t adapter(const describe::Lora& lora, std::int64_t in, std::int64_t out) {
  return lora.rank * (in + out);
}

}  // namespace

Weights block_weights(const Model& model, const Block& block, const Shard& shard) {
  Weights weights =
      std::visit([&](const auto& ffn) { return ffn_weights(model, ffn, shard); }, block.ffn);
  weights.dense +=
      std::visit([&](const auto& mixer) { return mixer_size(model, mixer, shard); }, block.mixer);
  weights.dense += norm_size(model, model.hidden) * block.norms;
  return weights;
}

Weights embedding_weights(const Model& model, const Shard& shard) {
  return {.dense = divided_up(shard.vocab, shard.tp) * model.hidden +
                   model.learned_positions * model.hidden +
                   (model.embedding_norm ? norm_size(model, model.hidden) : 0),
          .experts = 0};
}

Weights head_weights(const Model& model, const Shard& shard) {
  const std::int64_t rows = divided_up(shard.vocab, shard.tp);
  const bool own = !model.tied_head || shard.pp > 1;
  return {.dense = (own ? rows * model.hidden : 0) + (model.head_bias ? rows : 0) +
                   (model.final_norm ? norm_size(model, model.hidden) : 0),
          .experts = 0};
}

Weights mtp_weights(const Model& model, const Shard& shard) {
  if (model.mtp_layers == 0) {
    return {};
  }
  Weights weights =
      block_weights(model, model.blocks[static_cast<std::size_t>(model.mtp_block)], shard);
  weights.dense +=
      2 * model.hidden * divided_up(model.hidden, shard.tp) + 3 * norm_size(model, model.hidden);
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
