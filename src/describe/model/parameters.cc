// Parameter counts, exact to the digit for the published models of data/models.
//
// Each part is a sum of products of sizes, written once for any number type: check_size() evaluates
// the formulas in double, where hostile sizes can't overflow, and everything else in int64.
// Left out: scales of quantised checkpoints, rotary tables and other buffers.
#include "describe/model/parameters.h"

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace sextant::describe {
namespace {

// More would let sums of bytes (× 16 or so) come near 2^63.
constexpr double kMostParameters = 1e16;

template <typename N>
struct BlockParts {
  N mixer = 0;
  N dense_ffn = 0;
  N router = 0;
  N routed_experts = 0;
  N active_experts = 0;
  N shared_experts = 0;
  N norms = 0;
  [[nodiscard]] N total() const {
    return mixer + dense_ffn + router + routed_experts + shared_experts + norms;
  }
};

template <typename N>
N count(std::int64_t size) {
  return static_cast<N>(size);
}

template <typename N>
N norm_size(const Norm& norm, std::int64_t width) {
  return count<N>(width) * count<N>((norm.has_weight ? 1 : 0) + (norm.has_bias ? 1 : 0));
}

template <typename N>
N mixer_size(std::int64_t /*hidden*/, const std::monostate& /*none*/) {
  return 0;
}

template <typename N>
N mixer_size(std::int64_t hidden, const Attention& a) {
  const N h = count<N>(hidden);
  const N queries = count<N>(a.heads) * count<N>(a.head_dim);
  const N keys = count<N>(a.kv_heads) * count<N>(a.head_dim);
  const N projected = queries * count<N>(a.output_gate ? 2 : 1);
  N size = h * projected + h * keys * 2 + queries * h;
  if (a.qkv_bias) {
    size += projected + keys * 2;
  }
  if (a.output_bias) {
    size += h;
  }
  if (a.qk_norm == QkNorm::kPerHead) {
    size += count<N>(a.head_dim) * 2;
  } else if (a.qk_norm == QkNorm::kWholeProjection) {
    size += queries + keys;
  }
  if (a.sinks) {
    size += count<N>(a.heads);
  }
  return size;
}

// Source: transformers models/deepseek_v32/modeling_deepseek_v32.py, the indexer: queries from the
// query latent, one shared key with a LayerNorm, and a weight per head.
template <typename N>
N indexer_size(std::int64_t hidden, const LatentAttention& a) {
  const SparseIndexer& indexer = a.indexer;
  const N query_input = count<N>(a.q_lora_rank > 0 ? a.q_lora_rank : hidden);
  return query_input * count<N>(indexer.heads) * count<N>(indexer.head_dim) +
         count<N>(hidden) * count<N>(indexer.head_dim) + count<N>(indexer.head_dim) * 2 +
         count<N>(hidden) * count<N>(indexer.heads);
}

template <typename N>
N mixer_size(std::int64_t hidden, const LatentAttention& a) {
  const N h = count<N>(hidden);
  const N heads = count<N>(a.heads);
  const N rope = count<N>(a.qk_rope_head_dim);
  const N nope = count<N>(a.qk_nope_head_dim);
  const N value = count<N>(a.v_head_dim);
  const N q_rank = count<N>(a.q_lora_rank);
  const N kv_rank = count<N>(a.kv_lora_rank);
  const N queries = heads * (nope + rope);
  N size = a.q_lora_rank > 0 ? h * q_rank + q_rank + q_rank * queries : h * queries;
  size += h * (kv_rank + rope) + kv_rank + kv_rank * heads * (nope + value);
  size += heads * value * h;
  if (a.indexer.heads > 0) {
    size += indexer_size<N>(hidden, a);
  }
  return size;
}

template <typename N>
N mixer_size(std::int64_t hidden, const Mamba2& m) {
  const N h = count<N>(hidden);
  const N heads = count<N>(m.heads);
  const N inner = heads * count<N>(m.head_dim);
  const N states = count<N>(m.groups) * count<N>(m.state) * 2;
  const N projected = inner * 2 + states + heads;
  const N taps = count<N>(m.conv_kernel) + count<N>(m.conv_bias ? 1 : 0);
  // Per head: A, D and the bias of Δ; per channel: the gated norm's weight.
  N size = h * projected + (inner + states) * taps + heads * 3 + inner + inner * h;
  if (m.projection_bias) {
    size += projected + h;
  }
  return size;
}

template <typename N>
N mixer_size(std::int64_t hidden, const GatedDeltaNet& g) {
  const N h = count<N>(hidden);
  const N keys = count<N>(g.key_heads) * count<N>(g.key_head_dim);
  const N values = count<N>(g.value_heads) * count<N>(g.value_head_dim);
  const N value_heads = count<N>(g.value_heads);
  return h * (keys * 2 + values * 2) + h * value_heads * 2 +
         (keys * 2 + values) * count<N>(g.conv_kernel) + value_heads * 2 +
         count<N>(g.value_head_dim) + values * h;
}

struct FfnShape {
  std::int64_t input = 0;
  std::int64_t width = 0;
  bool gated = true;
  bool bias = false;
};

template <typename N>
N ffn_size(const FfnShape& shape) {
  const N input = count<N>(shape.input);
  const N width = count<N>(shape.width);
  const N ups = count<N>(shape.gated ? 2 : 1);
  N size = input * width * (ups + 1);
  if (shape.bias) {
    size += width * ups + input;
  }
  return size;
}

template <typename N>
void add_ffn(BlockParts<N>& /*parts*/, std::int64_t /*hidden*/, const std::monostate& /*none*/) {}

template <typename N>
void add_ffn(BlockParts<N>& parts, std::int64_t hidden, const DenseFfn& ffn) {
  parts.dense_ffn =
      ffn_size<N>({.input = hidden, .width = ffn.width, .gated = ffn.gated, .bias = ffn.bias});
}

template <typename N>
void add_ffn(BlockParts<N>& parts, std::int64_t hidden, const MoeFfn& ffn) {
  const N h = count<N>(hidden);
  const N experts = count<N>(ffn.experts);
  const std::int64_t input = ffn.latent_width > 0 ? ffn.latent_width : hidden;
  const N expert = ffn_size<N>(
      {.input = input, .width = ffn.width, .gated = ffn.gated, .bias = ffn.expert_bias});
  parts.router =
      h * experts + experts * count<N>((ffn.router_bias ? 1 : 0) + (ffn.correction_bias ? 1 : 0));
  parts.routed_experts = experts * expert;
  parts.active_experts = count<N>(ffn.topk) * expert;
  parts.shared_experts = h * count<N>(ffn.latent_width) * 2;
  if (ffn.shared_width > 0) {
    parts.shared_experts += ffn_size<N>(
        {.input = hidden, .width = ffn.shared_width, .gated = ffn.gated, .bias = false});
    parts.shared_experts += ffn.shared_gate ? h : count<N>(0);
  }
}

template <typename N>
BlockParts<N> block_parts(const Model& model, const Block& block) {
  BlockParts<N> parts;
  parts.mixer = std::visit([&](const auto& mixer) { return mixer_size<N>(model.hidden, mixer); },
                           block.mixer);
  std::visit([&](const auto& ffn) { add_ffn<N>(parts, model.hidden, ffn); }, block.ffn);
  parts.norms = norm_size<N>(model.norm, model.hidden) * count<N>(block.norms);
  return parts;
}

// Source: DeepSeek-V3, arXiv:2412.19437, section 2.2: each depth adds a block, a 2H → H projection
// and norms of its two inputs and its output; embedding and head are the model's own.
template <typename N>
N mtp_size(const Model& model) {
  if (model.mtp_layers == 0) {
    return 0;
  }
  const N h = count<N>(model.hidden);
  const Block& block = model.blocks[static_cast<std::size_t>(model.mtp_block)];
  return count<N>(model.mtp_layers) * (block_parts<N>(model, block).total() + h * h * 2 +
                                       norm_size<N>(model.norm, model.hidden) * 3);
}

// All but the layers: embedding, positions, head, norms.
template <typename N>
struct Ends {
  N embedding = 0;
  N positions = 0;
  N head = 0;
  N norms = 0;
};

template <typename N>
Ends<N> model_ends(const Model& model) {
  const N h = count<N>(model.hidden);
  const N vocab = count<N>(model.vocab);
  const N norm = norm_size<N>(model.norm, model.hidden);
  return {
      .embedding = vocab * h,
      .positions = count<N>(model.learned_positions) * h,
      .head = (model.tied_head ? count<N>(0) : vocab * h) + (model.head_bias ? vocab : count<N>(0)),
      .norms = norm * count<N>((model.final_norm ? 1 : 0) + (model.embedding_norm ? 1 : 0))};
}

// One size with its name, for messages.
using NamedSize = std::pair<const char*, std::int64_t>;

Result<void> at_least(std::int64_t least, std::initializer_list<NamedSize> sizes) {
  for (const auto& [name, value] : sizes) {
    if (value < least) {
      return invalid(fmt::format("{} is {}", name, value), {}, fmt::format("at least {}", least));
    }
  }
  return {};
}

Result<void> check_part(const std::monostate& /*none*/) {
  return {};
}

Result<void> check_part(const Attention& a) {
  SEXTANT_CHECK_OK(at_least(
      1, {{"heads", a.heads}, {"key-value heads", a.kv_heads}, {"head size", a.head_dim}}));
  return at_least(0, {{"attention window", a.window}});
}

Result<void> check_part(const LatentAttention& a) {
  SEXTANT_CHECK_OK(at_least(1, {{"heads", a.heads},
                                {"kv_lora_rank", a.kv_lora_rank},
                                {"qk_nope_head_dim", a.qk_nope_head_dim},
                                {"qk_rope_head_dim", a.qk_rope_head_dim},
                                {"v_head_dim", a.v_head_dim}}));
  return at_least(0, {{"q_lora_rank", a.q_lora_rank},
                      {"indexer heads", a.indexer.heads},
                      {"indexer head size", a.indexer.head_dim},
                      {"indexer topk", a.indexer.topk}});
}

Result<void> check_part(const Mamba2& m) {
  SEXTANT_CHECK_OK(at_least(1, {{"Mamba heads", m.heads},
                                {"Mamba head size", m.head_dim},
                                {"Mamba groups", m.groups},
                                {"Mamba state size", m.state},
                                {"convolution kernel", m.conv_kernel}}));
  return at_least(0, {{"chunk size", m.chunk}});
}

Result<void> check_part(const GatedDeltaNet& g) {
  return at_least(1, {{"linear key heads", g.key_heads},
                      {"linear value heads", g.value_heads},
                      {"linear key head size", g.key_head_dim},
                      {"linear value head size", g.value_head_dim},
                      {"convolution kernel", g.conv_kernel}});
}

Result<void> check_part(const DenseFfn& ffn) {
  return at_least(1, {{"feed-forward width", ffn.width}});
}

Result<void> check_part(const MoeFfn& ffn) {
  SEXTANT_CHECK_OK(
      at_least(1, {{"experts", ffn.experts}, {"topk", ffn.topk}, {"expert width", ffn.width}}));
  SEXTANT_CHECK_OK(at_least(0, {{"shared expert width", ffn.shared_width},
                                {"latent width", ffn.latent_width},
                                {"expert groups", ffn.groups},
                                {"topk groups", ffn.topk_groups}}));
  if (ffn.topk > ffn.experts) {
    return invalid(fmt::format("topk is {} of {} experts", ffn.topk, ffn.experts), {},
                   "at most the number of experts");
  }
  return {};
}

Result<void> check_block_sizes(const Model& model) {
  for (const Block& block : model.blocks) {
    SEXTANT_CHECK_OK(at_least(0, {{"norms of a block", block.norms}}));
    SEXTANT_CHECK_OK(std::visit([](const auto& part) { return check_part(part); }, block.mixer));
    SEXTANT_CHECK_OK(std::visit([](const auto& part) { return check_part(part); }, block.ffn));
  }
  const auto known = [&](int index) {
    return index >= 0 && static_cast<std::size_t>(index) < model.blocks.size();
  };
  for (const int index : model.layers) {
    if (!known(index)) {
      return invalid(fmt::format("a layer names block {} of {}", index, model.blocks.size()));
    }
  }
  if (model.mtp_layers > 0 && !known(model.mtp_block)) {
    return invalid(fmt::format("multi-token prediction names block {} of {}", model.mtp_block,
                               model.blocks.size()));
  }
  return {};
}

}  // namespace

BlockParameters block_parameters(const Model& model, const Block& block) {
  const BlockParts<std::int64_t> parts = block_parts<std::int64_t>(model, block);
  return {.mixer = parts.mixer,
          .dense_ffn = parts.dense_ffn,
          .router = parts.router,
          .routed_experts = parts.routed_experts,
          .active_experts = parts.active_experts,
          .shared_experts = parts.shared_experts,
          .norms = parts.norms};
}

ModelParameters model_parameters(const Model& model) {
  const Ends<std::int64_t> ends = model_ends<std::int64_t>(model);
  ModelParameters parameters{.embedding = ends.embedding,
                             .positions = ends.positions,
                             .head = ends.head,
                             .final_norm = ends.norms,
                             .layers_total = 0,
                             .layers_active = 0,
                             .mtp = mtp_size<std::int64_t>(model),
                             .blocks = {}};
  for (const Block& block : model.blocks) {
    parameters.blocks.push_back(block_parameters(model, block));
  }
  for (const int index : model.layers) {
    const BlockParameters& block = parameters.blocks[static_cast<std::size_t>(index)];
    parameters.layers_total += block.total();
    parameters.layers_active += block.active();
  }
  return parameters;
}

Result<void> check_size(const Model& model) {
  SEXTANT_CHECK_OK(at_least(1, {{"hidden size", model.hidden},
                                {"vocabulary", model.vocab},
                                {"layers", model.layer_count()}}));
  SEXTANT_CHECK_OK(at_least(0, {{"positions", model.max_positions},
                                {"learned positions", model.learned_positions},
                                {"multi-token-prediction layers", model.mtp_layers}}));
  SEXTANT_CHECK_OK(check_block_sizes(model));
  std::vector<double> sizes;
  double largest = 0.0;  // a block that no layer uses is bounded too
  for (const Block& block : model.blocks) {
    sizes.push_back(block_parts<double>(model, block).total());
    largest = std::max(largest, sizes.back());
  }
  const Ends<double> ends = model_ends<double>(model);
  double total = ends.embedding + ends.positions + ends.head + ends.norms + mtp_size<double>(model);
  for (const int index : model.layers) {
    total += sizes[static_cast<std::size_t>(index)];
  }
  if (std::max(total, largest) > kMostParameters) {
    return invalid(fmt::format("{:.3g} parameters", std::max(total, largest)), {}, "at most 10^16");
  }
  return {};
}

}  // namespace sextant::describe
