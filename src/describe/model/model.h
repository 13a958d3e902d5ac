// What a language model is, for the purpose of training it: the shapes of its blocks, in order.
//
// A Model is a list of layers, each of which points at one of a few distinct Blocks (a 61-layer
// DeepSeek-V3 has two: dense and MoE). A Block is a token mixer (attention, MLA, Mamba-2, Gated
// DeltaNet, or none) followed by a feed-forward part (dense, mixture of experts, or none); hybrids
// such as Nemotron-H, whose blocks hold a single part each, leave the other side empty. All sizes
// are counts of elements. What the model's weights mean is not known here, only how many there are
// and which shape.
//
// Left out: vision and audio towers (a wrapper's text part is described), quantised checkpoint
// formats.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "describe/assumption.h"

namespace sextant::describe {

// A normalisation over some width: parameters are weight and, where there is one, bias.
struct Norm {
  bool has_weight = true;       // false: OLMo's non-parametric LayerNorm
  bool has_bias = false;        // true: LayerNorm as GPT-2 has it
  bool subtracts_mean = false;  // LayerNorm rather than RMSNorm
  bool operator==(const Norm&) const = default;
};

// A norm on queries and keys: one of head_dim shared by all heads, or one over all heads together.
// Its parameters are weights only.
enum class QkNorm { kNone, kPerHead, kWholeProjection };

// Grouped-query attention (kv_heads == heads is MHA, kv_heads == 1 is MQA).
struct Attention {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;  // tokens a query sees; 0 = all before it
  bool qkv_bias = false;
  bool output_bias = false;
  bool output_gate = false;  // the query projection is doubled to gate the output (Qwen3-Next)
  bool sinks = false;        // one learned logit per head (gpt-oss)
  bool rotary = true;
  QkNorm qk_norm = QkNorm::kNone;
  bool operator==(const Attention&) const = default;
};

// The sparse-attention indexer of DeepSeek-V3.2 and its kin; heads == 0: there is none.
struct SparseIndexer {
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t topk = 0;
  bool operator==(const SparseIndexer&) const = default;
};

// Multi-head latent attention (DeepSeek-V2 and later).
struct LatentAttention {
  std::int64_t heads = 0;
  std::int64_t q_lora_rank = 0;  // 0: queries are projected directly
  std::int64_t kv_lora_rank = 0;
  std::int64_t qk_nope_head_dim = 0;
  std::int64_t qk_rope_head_dim = 0;
  std::int64_t v_head_dim = 0;
  SparseIndexer indexer{};
  bool operator==(const LatentAttention&) const = default;
};

struct Mamba2 {
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t groups = 0;
  std::int64_t state = 0;
  std::int64_t conv_kernel = 0;
  std::int64_t chunk = 0;
  bool conv_bias = true;
  bool projection_bias = false;
  [[nodiscard]] std::int64_t inner() const { return heads * head_dim; }
  bool operator==(const Mamba2&) const = default;
};

struct GatedDeltaNet {
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;
  std::int64_t key_head_dim = 0;
  std::int64_t value_head_dim = 0;
  std::int64_t conv_kernel = 0;
  bool operator==(const GatedDeltaNet&) const = default;
};

struct DenseFfn {
  std::int64_t width = 0;
  bool gated = true;  // three matrices (SwiGLU and its kin) or two
  bool bias = false;
  bool operator==(const DenseFfn&) const = default;
};

struct MoeFfn {
  std::int64_t experts = 0;
  std::int64_t topk = 0;
  std::int64_t width = 0;         // of one routed expert
  std::int64_t shared_width = 0;  // of all always-on experts together; 0: none
  std::int64_t latent_width = 0;  // experts run on a projected width (Nemotron-3); 0: on hidden
  std::int64_t groups = 0;        // expert groups for group-limited routing; 0: one
  std::int64_t topk_groups = 0;   // groups a token may reach; 0: all
  bool gated = true;
  bool expert_bias = false;      // gpt-oss
  bool router_bias = false;      // a bias on the router's logits (gpt-oss)
  bool correction_bias = false;  // a learned balance bias per expert (DeepSeek-V3), no gradient
  bool shared_gate = false;      // a 1-wide gate on the shared expert (Qwen2-MoE, Qwen3-Next)
  bool operator==(const MoeFfn&) const = default;
};

using Mixer = std::variant<std::monostate, Attention, LatentAttention, Mamba2, GatedDeltaNet>;
using Ffn = std::variant<std::monostate, DenseFfn, MoeFfn>;

struct Block {
  Mixer mixer{};
  Ffn ffn{};
  int norms = 2;  // hidden-wide norms: 2 usually, 4 in Gemma 2/3, 1 in single-part hybrid blocks
  bool parallel_residual = false;  // mixer and ffn read the same input (GPT-NeoX, GPT-J, Falcon)
  bool operator==(const Block&) const = default;
};

struct Model {
  std::string name;
  std::string family;         // Hugging Face model_type
  std::string source;         // file or catalogue entry, and where that entry's numbers come from
  std::string config_file;    // what was read: a path, or "data/models/x.json"
  std::string config_sha256;  // of its bytes
  std::int64_t hidden = 0;
  std::int64_t vocab = 0;
  std::int64_t max_positions = 0;      // upper bound on the sequence; 0: not stated
  std::int64_t learned_positions = 0;  // rows of a learned position table; 0: none
  bool tied_head = false;              // the output head is the embedding matrix
  bool head_bias = false;
  bool embedding_norm = false;  // BLOOM
  bool final_norm = true;
  Norm norm{};
  std::vector<Block> blocks;  // distinct blocks
  std::vector<int> layers;    // layer → index into blocks
  int mtp_layers = 0;         // multi-token-prediction depth: extra blocks after the last layer
  int mtp_block = 0;          // the block they repeat; it may be one that no layer uses
  Assumptions assumed;        // what the configuration left out and how it was filled

  [[nodiscard]] std::int64_t layer_count() const {
    return static_cast<std::int64_t>(layers.size());
  }
  bool operator==(const Model&) const = default;
};

// Does Hugging Face's code of the family spell the tanh form of GELU out, which PyTorch has no
// kernel for? Source: "gelu_new" as the default of the configuration classes GPT2, GPTJ, GPTNeo and
// Phi (transformers d56c55bf) and of configuration_codegen.py.
inline bool spells_gelu_out(const Model& model) {
  constexpr std::array<std::string_view, 5> kFamilies{"codegen", "gpt2", "gpt_neo", "gptj", "phi"};
  return std::find(kFamilies.begin(), kFamilies.end(), model.family) != kFamilies.end();
}

// Does Hugging Face's code of the family project queries, keys and values by one matrix? Source:
// the families' attention modules (c_attn, query_key_value, Wqkv, qkv_proj) in transformers.
inline bool projects_at_once(const Model& model) {
  constexpr std::array<std::string_view, 8> kFamilies{"bloom",       "codegen",  "falcon", "gpt2",
                                                      "gpt_bigcode", "gpt_neox", "mpt",    "phi3"};
  return std::find(kFamilies.begin(), kFamilies.end(), model.family) != kFamilies.end();
}

// Does any block hold a mixture of experts?
inline bool has_experts(const Model& model) {
  return std::any_of(model.blocks.begin(), model.blocks.end(),
                     [](const Block& block) { return std::holds_alternative<MoeFfn>(block.ffn); });
}

}  // namespace sextant::describe
