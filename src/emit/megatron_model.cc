// The shape of a decoder as Megatron's model arguments have it: one attention for all layers, dense
// or expert layers in a given order. Hybrids of attention and state-space layers are left to
// recipes.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/pipeline_split.h"
#include "emit/megatron_expert_layers.h"
#include "emit/megatron_meaning.h"

namespace sextant::emit {
namespace {

using describe::Attention;
using describe::Block;
using describe::DenseFfn;
using describe::LatentAttention;
using describe::Model;
using describe::MoeFfn;

constexpr std::int64_t kMostWidth = 100'000'000;

// What all layers share.
template <typename Part>
const Part* first_mixer(const Model& model) {
  for (const Block& block : model.blocks) {
    if (const auto* part = std::get_if<Part>(&block.mixer)) {
      return part;
    }
  }
  return nullptr;
}

template <typename Part>
const Part* first_ffn(const Model& model) {
  for (const Block& block : model.blocks) {
    if (const auto* part = std::get_if<Part>(&block.ffn)) {
      return part;
    }
  }
  return nullptr;
}

void write_attention(const Attention& attention, ArgumentWriter& out) {
  const bool grouped = attention.kv_heads != attention.heads;
  out.number("num_attention_heads", attention.heads);
  out.flag("group_query_attention", grouped);
  if (grouped || out.program() == Megatron::kBridge) {
    out.number("num_query_groups", attention.kv_heads);
  }
  out.number("kv_channels", attention.head_dim);
  out.flag("qk_layernorm", attention.qk_norm == describe::QkNorm::kPerHead);
  out.flag("attention_output_gate", attention.output_gate);
  if (attention.sinks) {
    out.word("softmax_type", "learnable");
  }
  if (attention.window > 0 && out.program() == Megatron::kLm) {
    out.word("window_size", fmt::format("{},0", attention.window - 1));
  } else if (attention.window > 0) {
    out.words("window_size", {std::to_string(attention.window - 1), "0"});
  }
  out.flag("add_qkv_bias", attention.qkv_bias && !attention.output_bias);
}

void write_latent(const LatentAttention& latent, ArgumentWriter& out) {
  out.flag("multi_latent_attention", true);
  out.number("num_attention_heads", latent.heads);
  if (latent.q_lora_rank > 0) {
    out.number("q_lora_rank", latent.q_lora_rank);
  }
  out.number("kv_lora_rank", latent.kv_lora_rank);
  out.number("qk_head_dim", latent.qk_nope_head_dim);
  out.number("qk_pos_emb_head_dim", latent.qk_rope_head_dim);
  out.number("v_head_dim", latent.v_head_dim);
  out.flag("qk_layernorm", true);
  if (latent.indexer.heads > 0) {
    out.word("experimental_attention_variant", "dsa");
    out.number("dsa_indexer_n_heads", latent.indexer.heads);
    out.number("dsa_indexer_head_dim", latent.indexer.head_dim);
    out.number("dsa_indexer_topk", latent.indexer.topk);
  }
}

void write_experts(const Model& model, const MoeFfn& moe, ArgumentWriter& out) {
  const auto optional_number = [&](std::string_view name, std::int64_t value) {
    if (value > 0) {
      out.number(name, value);
    }
  };
  out.number("num_experts", moe.experts);
  out.number("moe_router_topk", moe.topk);
  out.number("moe_ffn_hidden_size", moe.width);
  optional_number("moe_shared_expert_intermediate_size", moe.shared_width);
  out.flag("moe_shared_expert_gate", moe.shared_gate);
  optional_number("moe_latent_size", moe.latent_width);
  optional_number("moe_router_num_groups", moe.groups);
  optional_number("moe_router_group_topk", moe.topk_groups);
  if (moe.correction_bias) {
    out.word("moe_router_score_function", "sigmoid");
  }
  out.flag("moe_router_enable_expert_bias", moe.correction_bias);
  std::vector<bool> expert;
  for (const int layer : model.layers) {
    expert.push_back(
        std::holds_alternative<MoeFfn>(model.blocks[static_cast<std::size_t>(layer)].ffn));
  }
  if (std::find(expert.begin(), expert.end(), false) == expert.end()) {
    return;
  }
  if (out.program() == Megatron::kLm) {
    out.word("moe_layer_freq", expert_layers_text(expert));
    return;
  }
  std::vector<std::string> each;
  for (const bool one : expert) {
    each.emplace_back(one ? "1" : "0");
  }
  out.words("moe_layer_freq", std::move(each));
}

// Megatron refuses sequences beyond it, though only a learned table has a size. Source: Megatron-LM
// d98e8a64, arguments.py, validate_args.
std::int64_t most_positions(const describe::Job& job) {
  const Model& model = job.model;
  return model.learned_positions > 0 ? model.learned_positions
                                     : std::max(model.max_positions, job.sequences.length);
}

void write_whole(const describe::Job& job, ArgumentWriter& out) {
  const Model& model = job.model;
  const auto* attention = first_mixer<Attention>(model);
  const bool rotary = attention == nullptr || attention->rotary;
  const bool learned = model.learned_positions > 0;
  const std::string_view positions = learned ? "learned_absolute" : rotary ? "rope" : "none";
  out.number("num_layers", model.layer_count());
  out.number("hidden_size", model.hidden);
  out.word("position_embedding_type", positions);
  out.number("max_position_embeddings", most_positions(job));
  // NullTokenizer adds a token for the end of a document. Source: Megatron-LM d98e8a64,
  // core/tokenizers/text/libraries/null_tokenizer.py.
  out.word("tokenizer_type", "NullTokenizer");
  out.number("vocab_size", model.vocab - (out.program() == Megatron::kLm ? 1 : 0));
  out.flag("mock_data", true);
  out.flag("untie_embeddings_and_output_weights", !model.tied_head);
  out.word("normalization", model.norm.subtracts_mean ? "LayerNorm" : "RMSNorm");
  // Megatron drops a tenth unless told not to; models of today drop nothing.
  out.word("attention_dropout", "0.0");
  out.word("hidden_dropout", "0.0");
  if (model.mtp_layers > 0) {
    out.number("mtp_num_layers", model.mtp_layers);
  }
}

describe::Mixer read_mixer(ArgumentReader& in, const Model& model, std::int64_t heads, bool bias) {
  if (in.flag("multi_latent_attention", false)) {
    // Defaults of the configuration class. Source: Megatron-LM d98e8a64, arguments.py.
    LatentAttention latent;
    latent.heads = heads;
    latent.q_lora_rank = in.number("q_lora_rank", 1, kMostWidth).value_or(0);
    latent.kv_lora_rank = in.number("kv_lora_rank", 1, kMostWidth).value_or(32);
    latent.qk_nope_head_dim = in.number("qk_head_dim", 1, kMostWidth).value_or(128);
    latent.qk_rope_head_dim = in.number("qk_pos_emb_head_dim", 1, kMostWidth).value_or(64);
    latent.v_head_dim = in.number("v_head_dim", 1, kMostWidth).value_or(128);
    if (in.word("experimental_attention_variant").value_or("") == "dsa") {
      latent.indexer.heads = in.number("dsa_indexer_n_heads", 1, kMostWidth).value_or(0);
      latent.indexer.head_dim = in.number("dsa_indexer_head_dim", 1, kMostWidth).value_or(0);
      latent.indexer.topk = in.number("dsa_indexer_topk", 1, kMostWidth).value_or(0);
    }
    return latent;
  }
  Attention attention;
  attention.heads = heads;
  attention.kv_heads = heads;
  const bool grouped = in.flag("group_query_attention", in.program() == Megatron::kBridge);
  if (grouped) {
    attention.kv_heads = in.number("num_query_groups", 1, kMostWidth).value_or(heads);
  }
  attention.head_dim = in.number("kv_channels", 1, kMostWidth)
                           .value_or(std::max<std::int64_t>(model.hidden / heads, 1));
  attention.qkv_bias = bias || in.flag("add_qkv_bias", false);
  attention.output_bias = bias;
  attention.qk_norm =
      in.flag("qk_layernorm", false) ? describe::QkNorm::kPerHead : describe::QkNorm::kNone;
  attention.output_gate = in.flag("attention_output_gate", false);
  attention.sinks = in.word("softmax_type").value_or("") == "learnable";
  const std::string positions = in.word("position_embedding_type").value_or("learned_absolute");
  attention.rotary = positions == "rope" || positions == "yarn" || positions == "mrope";
  if (const std::vector<std::string> window = in.words("window_size"); !window.empty()) {
    std::string first(split(window.front(), ',').front());
    std::erase_if(first, [](char c) { return c == '(' || c == '[' || c == ' '; });
    const auto reach = to_integer(first);
    attention.window = reach && *reach >= 0 && *reach < kMostWidth ? *reach + 1 : 0;
  }
  return attention;
}

MoeFfn read_moe(ArgumentReader& in, std::int64_t experts, std::int64_t dense_width, bool gated,
                bool bias) {
  MoeFfn moe;
  moe.experts = experts;
  moe.topk = in.number("moe_router_topk", 1, kMostWidth).value_or(2);
  moe.width = in.number("moe_ffn_hidden_size", 1, kMostWidth).value_or(dense_width);
  moe.shared_width = in.number("moe_shared_expert_intermediate_size", 0, kMostWidth).value_or(0);
  moe.shared_gate = in.flag("moe_shared_expert_gate", false);
  moe.latent_width = in.number("moe_latent_size", 0, kMostWidth).value_or(0);
  moe.groups = in.number("moe_router_num_groups", 0, kMostWidth).value_or(0);
  moe.topk_groups = in.number("moe_router_group_topk", 0, kMostWidth).value_or(0);
  moe.correction_bias = in.flag("moe_router_enable_expert_bias", false);
  moe.gated = gated;
  moe.expert_bias = bias;
  return moe;
}

// Width of a feed-forward part that is not given. Source: Megatron-LM d98e8a64, arguments.py,
// validate_args.
std::int64_t usual_width(std::int64_t hidden, bool gated) {
  constexpr std::int64_t kMultiple = 64;
  return gated ? 4 * hidden * 2 / 3 / kMultiple * kMultiple : 4 * hidden;
}

void read_layers(ArgumentReader& in, Model& model, const Block& dense, std::int64_t layers,
                 const std::optional<MoeFfn>& moe) {
  std::vector<bool> expert(static_cast<std::size_t>(layers), moe.has_value());
  if (moe) {
    // A list that was read as one has lost its brackets.
    const std::vector<std::string> each = in.words("moe_layer_freq");
    if (!each.empty()) {
      const auto stated = parse_expert_layers(
          each.size() == 1 ? each.front() : fmt::format("[{}]", join(each, ",")), layers);
      if (stated) {
        expert = *stated;
      } else {
        in.unresolved("moe_layer_freq", stated.error().what);
      }
    }
  }
  Block with_experts = dense;
  if (moe) {
    with_experts.ffn = *moe;
  }
  std::array<int, 2> index{-1, -1};
  for (const bool one : expert) {
    int& known = index[one ? 1 : 0];
    if (known < 0) {
      known = static_cast<int>(model.blocks.size());
      model.blocks.push_back(one ? with_experts : dense);
    }
    model.layers.push_back(known);
  }
  model.mtp_block = model.layers.back();
}

void read_vocab(ArgumentReader& in, Model& model) {
  in.field("");  // the kind of a tokenizer says nothing of its size
  const bool adds_one =
      in.program() == Megatron::kLm && in.word("tokenizer_type").value_or("").starts_with("Null");
  in.field("vocab");
  if (const auto vocab = in.number("vocab_size", 1, kMostWidth)) {
    model.vocab = *vocab + (adds_one ? 1 : 0);
  } else {
    model.vocab = in.number("padded_vocab_size", 1, kMostWidth).value_or(0);
  }
}

}  // namespace

void write_model(const describe::Job& job, ArgumentWriter& out) {
  const Model& model = job.model;
  write_whole(job, out);
  const auto* attention = first_mixer<Attention>(model);
  const auto* latent = first_mixer<LatentAttention>(model);
  const auto* dense = first_ffn<DenseFfn>(model);
  const auto* moe = first_ffn<MoeFfn>(model);
  if (latent != nullptr) {
    write_latent(*latent, out);
  } else if (attention != nullptr) {
    write_attention(*attention, out);
  }
  const bool gated = dense != nullptr ? dense->gated : moe == nullptr || moe->gated;
  if (dense != nullptr || moe != nullptr) {
    out.number("ffn_hidden_size", dense != nullptr ? dense->width : moe->width);
  }
  out.flag("swiglu", gated);
  if (gated && out.program() == Megatron::kBridge) {
    out.word("activation_func", "silu");
  }
  const bool bias =
      dense != nullptr && dense->bias && (attention == nullptr || attention->output_bias);
  out.flag("add_bias_linear", bias);
  if (moe != nullptr) {
    write_experts(model, *moe, out);
  }
}

std::optional<Model> read_model(ArgumentReader& in) {
  in.field("model");
  if (in.has("hybrid_layer_pattern")) {
    in.unresolved("hybrid_layer_pattern", "hybrid models are not read from their pattern");
    return std::nullopt;
  }
  const auto layers = in.number("num_layers", 1, kMostMegatronLayers);
  const auto hidden = in.number("hidden_size", 1, kMostWidth);
  const auto heads = in.number("num_attention_heads", 1, kMostWidth);
  if (!layers || !hidden || !heads) {
    return std::nullopt;
  }
  Model model;
  model.name = "megatron";
  model.source = "Megatron's model arguments";
  model.hidden = *hidden;
  const bool bias = in.flag("add_bias_linear", true);
  const bool layer_norm = in.word("normalization").value_or("LayerNorm") == "LayerNorm";
  model.norm = {.has_weight = true, .has_bias = layer_norm, .subtracts_mean = layer_norm};
  const std::string positions = in.word("position_embedding_type").value_or("learned_absolute");
  model.max_positions = in.number("max_position_embeddings", 1, kMostWidth).value_or(0);
  model.learned_positions = positions == "learned_absolute" ? model.max_positions : 0;
  model.tied_head = !in.flag("untie_embeddings_and_output_weights", false);
  const bool gated = in.flag("swiglu", false);
  const std::int64_t width =
      in.number("ffn_hidden_size", 1, kMostWidth).value_or(usual_width(*hidden, gated));
  const Block dense{.mixer = read_mixer(in, model, *heads, bias),
                    .ffn = DenseFfn{.width = width, .gated = gated, .bias = bias}};
  model.family = std::holds_alternative<LatentAttention>(dense.mixer) ? "deepseek_v3" : "llama";
  std::optional<MoeFfn> moe;
  if (const auto experts = in.number("num_experts", 1, kMostWidth)) {
    moe = read_moe(in, *experts, width, gated, bias);
  }
  read_layers(in, model, dense, *layers, moe);
  model.mtp_layers = static_cast<int>(in.number("mtp_num_layers", 0, 1000).value_or(0));
  read_vocab(in, model);
  return model;
}

}  // namespace sextant::emit
