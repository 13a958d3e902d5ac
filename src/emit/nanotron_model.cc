// model.model_config is Hugging Face's config.json in nanotron's spelling, so it is read by the
// same reader: as a Llama, with experts in its place where moe_config has them.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/model/load_model.h"
#include "emit/nanotron.h"
#include "emit/setting_values.h"
#include "emit/tree_file.h"
#include "emit/tree_file_writer.h"

namespace sextant::emit {
namespace {

constexpr std::string_view kPrefix = "model.model_config.";
constexpr std::string_view kMoePrefix = "model.model_config.moe_config.";

// Keys that mean the same in a config.json.
constexpr std::array<std::string_view, 9> kSame{
    "hidden_size",         "intermediate_size", "max_position_embeddings",
    "num_attention_heads", "num_hidden_layers", "num_key_value_heads",
    "tie_word_embeddings", "vocab_size",        "attention_bias"};

std::string key(std::string_view name) {
  return fmt::format("{}{}", kPrefix, name);
}
std::string moe_key(std::string_view name) {
  return fmt::format("{}{}", kMoePrefix, name);
}

// Plain attention of full width, as LlamaConfig and Qwen2Config have it.
const describe::Attention* plain_attention(const describe::Model& model,
                                           const describe::Block& block) {
  const auto* attention = std::get_if<describe::Attention>(&block.mixer);
  const bool plain = attention != nullptr && attention->heads > 0 &&
                     attention->heads * attention->head_dim == model.hidden &&
                     attention->qkv_bias == attention->output_bias && attention->rotary &&
                     attention->window == 0 && !attention->output_gate && !attention->sinks &&
                     attention->qk_norm == describe::QkNorm::kNone;
  return plain ? attention : nullptr;
}

bool plain_model(const describe::Model& model) {
  const bool one_kind = std::all_of(model.layers.begin(), model.layers.end(),
                                    [&](int block) { return block == model.layers.front(); });
  return one_kind && !model.layers.empty() && model.mtp_layers == 0 &&
         model.learned_positions == 0 && !model.head_bias && !model.embedding_norm &&
         model.final_norm && !model.norm.has_bias && !model.norm.subtracts_mean;
}

void write_ffn(const describe::Block& block, SettingWriter& out) {
  if (const auto* dense = std::get_if<describe::DenseFfn>(&block.ffn)) {
    out.flag(key("is_llama_config"), true);
    out.whole(key("intermediate_size"), dense->width);
    return;
  }
  const describe::MoeFfn& moe = std::get<describe::MoeFfn>(block.ffn);
  out.flag(key("is_qwen2_config"), true);
  out.whole(key("intermediate_size"), moe.width);
  out.whole(moe_key("num_experts"), moe.experts);
  out.whole(moe_key("top_k"), moe.topk);
  out.whole(moe_key("moe_intermediate_size"), moe.width);
  out.flag(moe_key("enable_shared_expert"), moe.shared_width > 0);
  if (moe.shared_width > 0) {
    out.whole(moe_key("shared_expert_intermediate_size"), moe.shared_width);
  }
}

bool plain_ffn(const describe::Block& block) {
  if (const auto* dense = std::get_if<describe::DenseFfn>(&block.ffn)) {
    return dense->gated && !dense->bias;
  }
  const auto* moe = std::get_if<describe::MoeFfn>(&block.ffn);
  return moe != nullptr && moe->gated && moe->latent_width == 0 && moe->groups == 0 &&
         !moe->expert_bias && !moe->router_bias && !moe->correction_bias && !moe->shared_gate &&
         moe->shared_width % moe->width == 0;
}

}  // namespace

std::vector<Setting> nanotron_model_settings(const describe::Model& model) {
  if (!plain_model(model)) {
    return {};
  }
  const describe::Block& block = model.blocks[static_cast<std::size_t>(model.layers.front())];
  const describe::Attention* attention = plain_attention(model, block);
  if (attention == nullptr || !plain_ffn(block) || block.norms != 2 || block.parallel_residual) {
    return {};
  }
  SettingWriter out;
  write_ffn(block, out);
  out.whole(key("hidden_size"), model.hidden);
  out.whole(key("num_attention_heads"), attention->heads);
  out.whole(key("num_key_value_heads"), attention->kv_heads);
  out.whole(key("num_hidden_layers"), model.layer_count());
  out.whole(key("vocab_size"), model.vocab);
  if (model.max_positions > 0) {
    out.whole(key("max_position_embeddings"), model.max_positions);
  }
  out.flag(key("tie_word_embeddings"), model.tied_head);
  out.flag(key("attention_bias"), attention->qkv_bias);
  return std::move(out).take();
}

std::optional<Result<describe::Model>> nanotron_model(const Settings& settings,
                                                      const describe::DataStore& data) {
  if (find(settings.given, key("hidden_size")) == nullptr) {
    return std::nullopt;
  }
  Settings config;
  const auto put = [&](std::string_view name, std::string value) {
    config.given.push_back({std::string(name), {std::move(value)}, {}});
  };
  const auto said = [&](const std::string& name) -> std::optional<std::string> {
    const Setting* setting = find(settings.given, name);
    const bool one = setting != nullptr && setting->values.size() == 1;
    return one && setting->values[0] != "null" ? std::optional(setting->values[0]) : std::nullopt;
  };
  for (const std::string_view name : kSame) {
    if (const auto value = said(key(name))) {
      const auto number = to_whole(*value);
      put(name, number && !to_flag(*value) ? std::to_string(*number) : to_lower(*value));
    }
  }
  const auto experts = said(moe_key("num_experts"));
  const bool starcoder = said(key("is_starcoder2_config")).has_value();
  put("model_type", starcoder ? "starcoder2" : (experts ? "experts_like_llama" : "llama"));
  if (experts) {
    put("num_experts", *experts);
    put("num_experts_per_tok", said(moe_key("top_k")).value_or("2"));
    const std::string width = said(moe_key("moe_intermediate_size"))
                                  .value_or(said(key("intermediate_size")).value_or("11008"));
    put("moe_intermediate_size", width);
    const bool shared = to_flag(said(moe_key("enable_shared_expert")).value_or("false")) == true;
    const auto all = to_whole(said(moe_key("shared_expert_intermediate_size")).value_or(width));
    const auto one = to_whole(width);
    if (shared && all && one && *one > 0) {
      put("n_shared_experts", std::to_string(*all / *one));
    }
  }
  const Place place = find(settings.given, key("hidden_size"))->place;
  return describe::parse_hf_config(render_json(config), to_text(place), data);
}

}  // namespace sextant::emit
