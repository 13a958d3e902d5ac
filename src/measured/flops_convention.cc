#include "measured/flops_convention.h"

#include <algorithm>
#include <array>
#include <utility>

#include "describe/model/parameters.h"

namespace sextant::measured {

namespace {

using describe::Attention;
using describe::Block;
using describe::DenseFfn;
using describe::LatentAttention;
using describe::Model;
using describe::MoeFfn;

constexpr std::array<std::pair<std::string_view, FlopsConvention>, 4> kCodes{
    {{"MODEL_CAUSAL", FlopsConvention::kModelCausal},
     {"MODEL_FULL", FlopsConvention::kModelFull},
     {"PARAM6N_FULL", FlopsConvention::kParamFull},
     {"HW_FULL", FlopsConvention::kHardwareFull}}};

double product(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) * static_cast<double>(b);
}

// Weights that a token is multiplied with.
double mixer_weights(const Model& model, const Block& block) {
  const std::int64_t h = model.hidden;
  if (const auto* attention = std::get_if<Attention>(&block.mixer)) {
    const std::int64_t queries = attention->heads * attention->head_dim;
    const std::int64_t keys = attention->kv_heads * attention->head_dim;
    return product(h, queries) * (attention->output_gate ? 3.0 : 2.0) + 2.0 * product(h, keys);
  }
  if (const auto* latent = std::get_if<LatentAttention>(&block.mixer)) {
    const std::int64_t head = latent->qk_nope_head_dim + latent->qk_rope_head_dim;
    const double queries =
        latent->q_lora_rank > 0
            ? product(h, latent->q_lora_rank) + product(latent->q_lora_rank, latent->heads * head)
            : product(h, latent->heads * head);
    const double compressed = product(h, latent->kv_lora_rank + latent->qk_rope_head_dim);
    const double expanded = product(
        latent->kv_lora_rank, latent->heads * (latent->qk_nope_head_dim + latent->v_head_dim));
    return queries + compressed + expanded + product(latent->heads * latent->v_head_dim, h);
  }
  // State-space and linear-attention mixers: their products are all their weights but a few
  // vectors.
  return static_cast<double>(describe::block_parameters(model, block).mixer);
}

double ffn_weights(const Model& model, const Block& block) {
  const std::int64_t h = model.hidden;
  if (const auto* dense = std::get_if<DenseFfn>(&block.ffn)) {
    return product(h, dense->width) * (dense->gated ? 3.0 : 2.0);
  }
  if (const auto* moe = std::get_if<MoeFfn>(&block.ffn)) {
    const double matrices = moe->gated ? 3.0 : 2.0;
    return matrices * (product(h, moe->topk * moe->width) + product(h, moe->shared_width)) +
           product(h, moe->experts);
  }
  return 0.0;
}

// Forward operations of attention scores and their use, a token, when every token sees all others.
double attention_flops(const Block& block, std::int64_t seq, bool causal) {
  const auto seen = [seq, causal](std::int64_t window) {
    const double all = static_cast<double>(seq) * (causal ? 0.5 : 1.0);
    return window > 0 ? std::min(all, static_cast<double>(window)) : all;
  };
  if (const auto* attention = std::get_if<Attention>(&block.mixer)) {
    return 4.0 * product(attention->heads, attention->head_dim) * seen(attention->window);
  }
  if (const auto* latent = std::get_if<LatentAttention>(&block.mixer)) {
    const std::int64_t head =
        latent->qk_nope_head_dim + latent->qk_rope_head_dim + latent->v_head_dim;
    return 2.0 * product(latent->heads, head) * seen(0);
  }
  return 0.0;
}

// Forward operations of all layers, a token.
double layer_flops(const Model& model, std::int64_t seq, bool causal) {
  std::vector<double> blocks;
  blocks.reserve(model.blocks.size());
  for (const Block& block : model.blocks) {
    blocks.push_back(2.0 * (mixer_weights(model, block) + ffn_weights(model, block)) +
                     attention_flops(block, seq, causal));
  }
  double total = 0.0;
  for (const int block : model.layers) {
    total += blocks[static_cast<std::size_t>(block)];
  }
  return total;
}

}  // namespace

std::optional<FlopsConvention> flops_convention(std::string_view text) {
  for (const auto& [code, convention] : kCodes) {
    if (text == code || text.substr(0, code.size() + 1) == std::string(code) + ":") {
      return convention;
    }
  }
  return std::nullopt;
}

Flops flops_per_token(const Model& model, std::int64_t seq, FlopsConvention convention) {
  const double head = 2.0 * product(model.hidden, model.vocab);
  switch (convention) {
    case FlopsConvention::kModelCausal:
      return Flops(3.0 * (layer_flops(model, seq, true) + head));
    case FlopsConvention::kModelFull:
      return Flops(3.0 * (layer_flops(model, seq, false) + head));
    case FlopsConvention::kParamFull: {
      const double parameters = static_cast<double>(describe::model_parameters(model).total());
      return Flops(6.0 * parameters +
                   12.0 * product(model.layer_count(), model.hidden) * static_cast<double>(seq));
    }
    case FlopsConvention::kHardwareFull:
      return Flops(4.0 * layer_flops(model, seq, false) + 3.0 * head);
  }
  return Flops();
}

}  // namespace sextant::measured
