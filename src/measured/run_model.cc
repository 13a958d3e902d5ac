#include "measured/run_model.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/model/load_model.h"
#include "describe/model/parameters.h"
#include "measured/row_tools.h"

namespace sextant::measured {

namespace {

using describe::Attention;
using describe::Block;
using describe::DenseFfn;
using describe::LatentAttention;
using describe::Model;
using describe::MoeFfn;

constexpr std::int64_t kMostRank = 1'000'000;
constexpr std::size_t kGuesses = 4;
constexpr std::int64_t kUsualHeadDim = 128;
constexpr std::int64_t kMostMtp = 16;
constexpr std::int64_t kMostLayers = 100'000;

// What the architecture text and the name say about every block.
struct Style {
  bool gpt = false;  // LayerNorm, biases, learned positions, tied head
  bool alibi = false;
  bool embedding_norm = false;
  std::int64_t window = 0;        // of local layers; 0: none
  std::int64_t global_every = 0;  // one global layer after every so many; 0: all global
};

std::optional<std::int64_t> integer_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(at + word.size());
  return to_integer(rest.substr(0, rest.find_first_not_of("0123456789")));
}

bool is_gpt(const RunCells& run) {
  const std::string name = to_lower(run.model);
  const bool named = contains(name, "gpt") && !contains(name, "gpt-oss");
  const bool plain =
      run.arch == "dense" && run.gated == false && (named || contains(name, "mt-nlg"));
  return contains(run.arch, "GPT") || plain;
}

Style style_of(const RunCells& run, ModelReading& reading) {
  Style style;
  style.gpt = is_gpt(run);
  style.alibi = contains(run.arch, "alibi");
  style.embedding_norm = contains(run.arch, "embed-norm");
  if (const auto window = integer_after(run.arch, "SWA")) {
    style.window = *window;
    style.global_every = contains(run.arch, "alternate") ? 1 : 0;
    // "5:1 local": five local layers, then a global one.
    const std::size_t colon = run.arch.find(":1 local");
    if (colon != std::string_view::npos && colon > 0) {
      style.global_every = to_integer(run.arch.substr(colon - 1, 1)).value_or(0);
    }
  }
  if (style.gpt && !contains(run.arch, "biases")) {
    reading.assumed.push_back({"blocks",
                               "GPT",
                               style.alibi ? "LayerNorm, biases, tied head, no position table"
                                           : "LayerNorm, biases, learned positions, tied head",
                               {}});
  }
  return style;
}

// "MLA(q_lora1536,kv_lora512,qk_nope128,qk_rope64,v128)".
std::optional<LatentAttention> latent_attention(const RunCells& run) {
  const std::size_t at = run.arch.find("MLA(");
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view inside = run.arch.substr(at + 4);
  LatentAttention latent;
  latent.heads = run.heads.value_or(0);
  latent.q_lora_rank = integer_after(inside, "q_lora").value_or(0);
  latent.kv_lora_rank = integer_after(inside, "kv_lora").value_or(0);
  latent.qk_nope_head_dim = integer_after(inside, "qk_nope").value_or(0);
  latent.qk_rope_head_dim = integer_after(inside, "qk_rope").value_or(0);
  latent.v_head_dim = integer_after(inside, ",v").value_or(0);
  for (const std::int64_t rank : {latent.kv_lora_rank, latent.qk_nope_head_dim, latent.v_head_dim,
                                  latent.q_lora_rank + 1, latent.qk_rope_head_dim + 1}) {
    if (rank < 1 || rank > kMostRank) {
      return std::nullopt;
    }
  }
  return latent;
}

Attention attention_of(const RunCells& run, const Style& style) {
  Attention attention;
  attention.heads = stated(run.heads);
  attention.kv_heads = run.kv_heads.value_or(stated(run.heads));
  attention.head_dim = run.head_dim.value_or(stated(run.hidden) / stated(run.heads));
  attention.qkv_bias = style.gpt;
  attention.output_bias = style.gpt;
  attention.rotary = !style.gpt;
  const std::string name = to_lower(run.model);
  if (contains(name, "gpt-oss")) {
    attention.qkv_bias = true;
    attention.output_bias = true;
    attention.sinks = true;
  }
  if (contains(name, "qwen3")) {
    attention.qk_norm = describe::QkNorm::kPerHead;
  }
  return attention;
}

DenseFfn dense_ffn(const RunCells& run, const Style& style) {
  DenseFfn dense;
  dense.gated = run.gated.value_or(!style.gpt);
  dense.width = run.ffn.value_or(4 * stated(run.hidden));
  dense.bias = style.gpt;
  return dense;
}

MoeFfn moe_ffn(const RunCells& run) {
  MoeFfn moe;
  moe.experts = stated(run.experts);
  moe.topk = run.topk.value_or(1);
  moe.width = run.expert_ffn.value_or(run.ffn.value_or(4 * stated(run.hidden)));
  moe.shared_width = run.shared_ffn.value_or(0);
  moe.gated = run.gated.value_or(true);
  const std::string name = to_lower(run.model);
  if (contains(name, "gpt-oss")) {
    moe.expert_bias = true;
    moe.router_bias = true;
  }
  // Sigmoid routing with a balance bias comes with latent attention and one or more shared experts.
  moe.correction_bias = contains(run.arch, "MLA") && moe.shared_width > 0;
  return moe;
}

std::vector<std::string> missing_shape(const RunCells& run) {
  std::vector<std::string> missing;
  for (const auto& [value, name] :
       {std::pair{run.layers, "layers"}, {run.hidden, "hidden"}, {run.heads, "heads"}}) {
    if (!value) {
      missing.emplace_back(name);
    }
  }
  return missing;
}

// The distinct blocks and which layer has which: dense layers first, windows by their rhythm.
void set_blocks(const RunCells& run, const Style& style, Model& model) {
  const auto latent = latent_attention(run);
  const Attention attention = attention_of(run, style);
  const std::int64_t dense_layers = run.experts ? run.dense_layers.value_or(0) : stated(run.layers);
  const auto block_of = [&](bool dense, bool local) {
    Block block;
    if (latent) {
      block.mixer = *latent;
    } else {
      Attention mixer = attention;
      mixer.window = local ? style.window : 0;
      block.mixer = mixer;
    }
    if (dense) {
      block.ffn = dense_ffn(run, style);
    } else {
      block.ffn = moe_ffn(run);
    }
    return block;
  };
  std::array<int, 4> index{-1, -1, -1, -1};
  for (std::int64_t layer = 0; layer < stated(run.layers); ++layer) {
    const bool dense = layer < dense_layers;
    const bool local =
        style.global_every > 0 && (layer % (style.global_every + 1)) < style.global_every;
    int& block = index[(dense ? 2U : 0U) + (local ? 1U : 0U)];
    if (block < 0) {
      block = static_cast<int>(model.blocks.size());
      model.blocks.push_back(block_of(dense, local));
    }
    model.layers.push_back(block);
  }
}

// Megatron-LM's GPT-2 vocabulary, padded: what GPT rows of that family are computed with.
// Source: Narayanan et al. 2021, arXiv:2104.04473, section 5 (V = 51,200).
constexpr std::int64_t kMegatronVocab = 51200;

void set_vocabulary(const RunCells& run, const Style& style, Model& model, ModelReading& reading) {
  model.vocab = run.vocab.value_or(0);
  if (!run.vocab && style.gpt) {
    model.vocab = kMegatronVocab;
    reading.assumed.push_back({"vocab", std::to_string(kMegatronVocab), "Megatron's padded GPT-2",
                               "arXiv:2104.04473, section 5"});
  }
  const std::string name = to_lower(run.model);
  model.tied_head = style.gpt || contains(name, "gemma") || contains(name, "llama3.2");
  model.norm = {.has_weight = true, .has_bias = style.gpt, .subtracts_mean = style.gpt};
  model.embedding_norm = style.embedding_norm;
  if (style.gpt && !style.alibi) {
    model.learned_positions = run.seq.value_or(2048);
  }
}

// Catalogue names are lower case with hyphens: "Qwen2.5 7B 2-node" is asked for as
// "qwen2.5-7b-2-node", then without its last word, and so on.
std::vector<std::string> catalogue_guesses(std::string_view model) {
  std::string word = to_lower(model.substr(0, model.find('(')));
  std::replace(word.begin(), word.end(), ' ', '-');
  std::replace(word.begin(), word.end(), '_', '-');
  while (!word.empty() && word.back() == '-') {
    word.pop_back();
  }
  std::vector<std::string> guesses;
  while (!word.empty() && guesses.size() < kGuesses && word.find('/') == std::string::npos) {
    guesses.push_back(word);
    const std::size_t dash = word.rfind('-');
    word = dash == std::string::npos ? "" : word.substr(0, dash);
  }
  return guesses;
}

// The catalogue's name for the row's model: the same word, or the only name that the whole word
// begins
// ("nemotron-3-nano"). Shortened words must match in full, so that no family member stands in for
// another.
std::string catalogue_name(const RunCells& run, const describe::DataStore& data) {
  const std::vector<std::string> names = describe::catalogue_names(data);
  const std::vector<std::string> guesses = catalogue_guesses(run.model);
  for (const std::string& guess : guesses) {
    if (std::find(names.begin(), names.end(), guess) != names.end()) {
      return guess;
    }
  }
  std::string only;
  for (const std::string& name : names) {
    if (!guesses.empty() && starts_with_word(name, guesses.front())) {
      if (!only.empty()) {
        return {};
      }
      only = name;
    }
  }
  return only;
}

std::optional<Model> catalogue_model(const RunCells& run, const describe::DataStore& data) {
  const std::string name = catalogue_name(run, data);
  auto model = name.empty() ? Result<Model>(not_found(name)) : describe::load_model(name, data);
  return model ? std::optional<Model>(std::move(*model)) : std::nullopt;
}

// Dense rows that state their size but not their heads: 128 to a head, as nearly every model of
// that size has. Heads change neither products nor parameters, only how the attention is cut.
std::optional<std::int64_t> usual_heads(const RunCells& run) {
  const bool sized = run.layers && run.hidden && !run.heads && !run.kv_heads;
  if (!sized || run.arch.substr(0, 5) != "dense" || stated(run.hidden) % kUsualHeadDim != 0) {
    return std::nullopt;
  }
  return stated(run.hidden) / kUsualHeadDim;
}

void refuse_shape(const RunCells& run, const std::vector<std::string>& missing,
                  ModelReading& reading) {
  reading.refusal = fmt::format("model shape not stated: {}", join(missing, ", "));
  if (contains(run.arch, "hybrid")) {
    reading.refusal += " (hybrid)";
  }
}

}  // namespace

int mtp_layers(std::string_view flags) {
  const auto layers = integer_after(flags, "MTP ");
  return layers ? static_cast<int>(std::clamp<std::int64_t>(*layers, 0, kMostMtp)) : 0;
}

Result<ModelReading> run_model(const RunCells& row, const describe::DataStore& data) {
  ModelReading reading;
  RunCells run = row;
  if (const auto heads = usual_heads(run)) {
    run.heads = heads;
    reading.assumed.push_back({"heads", std::to_string(*heads), "not stated; 128 to a head", {}});
  }
  const std::vector<std::string> missing = missing_shape(run);
  if (!missing.empty()) {
    reading.model = catalogue_model(run, data);
    if (!reading.model) {
      refuse_shape(run, missing, reading);
      return reading;
    }
    reading.assumed.push_back({"model", reading.model->name, "its shape", reading.model->source});
    return reading;
  }
  if (stated(run.layers) > kMostLayers || stated(run.hidden) < stated(run.heads)) {
    reading.refusal = fmt::format("model shape is not one: {} layers, hidden {}, {} heads",
                                  stated(run.layers), stated(run.hidden), stated(run.heads));
    return reading;
  }
  const Style style = style_of(run, reading);
  if (contains(run.arch, "hybrid") || (contains(run.arch, "MLA") && !latent_attention(run))) {
    reading.refusal = fmt::format("architecture not described: \"{}\"", printable(run.arch));
    return reading;
  }
  Model model;
  model.name = std::string(run.model);
  model.source = run.id;
  model.hidden = stated(run.hidden);
  set_vocabulary(run, style, model, reading);
  if (model.vocab == 0) {
    reading.refusal = "model shape not stated: vocab";
    return reading;
  }
  set_blocks(run, style, model);
  model.mtp_layers = mtp_layers(run.flags);
  model.mtp_block = model.layers.back();
  if (const auto size = describe::check_size(model); !size) {
    reading.refusal = to_text(size.error());
    return reading;
  }
  reading.model = std::move(model);
  return reading;
}

}  // namespace sextant::measured
