// Models by MaxText's names (data/frameworks/maxtext_models.toml), else by their sizes: a decoder
// of other sizes is MaxText's llama2 block, or its mixtral block where it has experts.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/model/load_model.h"
#include "describe/toml_table.h"
#include "emit/maxtext_parts.h"
#include "emit/tree_file.h"

namespace sextant::emit::maxtext {
namespace {

constexpr std::string_view kMaxtextModelsFile = "frameworks/maxtext_models.toml";
constexpr std::string_view kName = "model_name";
constexpr std::string_view kBlock = "decoder_block";

// Sizes that mean the same in a config.json; base.yml's value where the file is silent.
struct ModelSize {
  std::string_view key;
  std::string_view config;
  std::string_view silent;
};
constexpr std::array kModelSizes{
    ModelSize{"base_emb_dim", "hidden_size", "2048"},
    ModelSize{"base_num_query_heads", "num_attention_heads", "16"},
    ModelSize{"base_num_kv_heads", "num_key_value_heads", "16"},
    ModelSize{"base_mlp_dim", "intermediate_size", "7168"},
    ModelSize{"base_num_decoder_layers", "num_hidden_layers", "16"},
    ModelSize{"head_dim", "head_dim", "128"},
    ModelSize{"vocab_size", "vocab_size", "32000"},
};

Result<describe::TomlTable> names(const describe::DataStore& data) {
  SEXTANT_TRY(const std::string text, data.read(kMaxtextModelsFile));
  SEXTANT_TRY(const describe::TomlTable root,
              describe::TomlTable::parse(text, data.where(kMaxtextModelsFile)));
  return root.table("models");
}

// A catalogue model is known by the file it was read from.
std::optional<std::string> name_of(const describe::Model& model, const describe::DataStore& data) {
  if (model.config_file.empty()) {
    return std::nullopt;
  }
  const auto table = names(data);
  if (!table) {
    return std::nullopt;
  }
  for (const std::string& name : table->keys()) {
    const auto row = table->table(name);
    const auto catalogue = row ? row->text("model") : tl::unexpected(row.error());
    if (catalogue && model.config_file == data.where(fmt::format("models/{}.json", *catalogue))) {
      return name;
    }
  }
  return std::nullopt;
}

bool is_llama_attention(const describe::Attention* attention) {
  return attention != nullptr && !attention->qkv_bias && !attention->output_bias &&
         attention->rotary && attention->window == 0 && !attention->output_gate &&
         !attention->sinks && attention->qk_norm == describe::QkNorm::kNone;
}

bool is_llama_or_mixtral_ffn(const describe::Ffn& ffn) {
  if (const auto* dense = std::get_if<describe::DenseFfn>(&ffn)) {
    return dense->gated && !dense->bias;
  }
  const auto* moe = std::get_if<describe::MoeFfn>(&ffn);
  return moe != nullptr && moe->gated && moe->shared_width == 0 && moe->latent_width == 0 &&
         moe->groups == 0 && !moe->expert_bias && !moe->router_bias && !moe->correction_bias;
}

// One kind of block throughout, of Llama's or Mixtral's parts.
const describe::Block* plain_block(const describe::Model& model) {
  const bool one_kind = !model.layers.empty() &&
                        std::all_of(model.layers.begin(), model.layers.end(),
                                    [&](int block) { return block == model.layers.front(); });
  if (!one_kind || model.mtp_layers > 0 || model.learned_positions > 0 || model.head_bias ||
      model.embedding_norm || !model.final_norm || model.norm.has_bias ||
      model.norm.subtracts_mean) {
    return nullptr;
  }
  const describe::Block& block = model.blocks[static_cast<std::size_t>(model.layers.front())];
  const bool plain = is_llama_attention(std::get_if<describe::Attention>(&block.mixer)) &&
                     is_llama_or_mixtral_ffn(block.ffn) && block.norms == 2 &&
                     !block.parallel_residual;
  return plain ? &block : nullptr;
}

std::optional<std::string> said_value(const Settings& settings, std::string_view key) {
  const Setting* setting = find(settings.given, key);
  const bool one = setting != nullptr && setting->values.size() == 1;
  return one ? std::optional(setting->values[0]) : std::nullopt;
}

std::optional<Result<describe::Model>> model_of_sizes(const Settings& settings,
                                                      const describe::DataStore& data) {
  const auto* const first =
      std::find_if(kModelSizes.begin(), kModelSizes.end(), [&](const ModelSize& size) {
        return size.key.starts_with("base_") && said_value(settings, size.key).has_value();
      });
  if (first == kModelSizes.end()) {
    return std::nullopt;
  }
  const std::string where = to_text(find(settings.given, first->key)->place);
  const std::string block = said_value(settings, kBlock).value_or("llama2");
  if (block != "llama2" && block != "mixtral") {
    return invalid(fmt::format("decoder_block '{}' is described by its model_name only", block),
                   where, "llama2, mixtral");
  }
  if (to_whole(said_value(settings, "global_parameter_scale").value_or("1")) != 1) {
    return invalid("global_parameter_scale changes every size", where, "1");
  }
  Settings config;
  const auto put = [&](std::string_view key, std::string value) {
    config.given.push_back({std::string(key), {std::move(value)}, {}});
  };
  const auto whole = [&](std::string_view key, std::string_view silent) {
    const std::string text = said_value(settings, key).value_or(std::string(silent));
    const auto number = to_whole(text);
    return number ? std::to_string(*number) : text;
  };
  for (const ModelSize& size : kModelSizes) {
    put(size.config, whole(size.key, size.silent));
  }
  const bool tied = to_flag(said_value(settings, "logits_via_embedding").value_or("false")) == true;
  put("tie_word_embeddings", tied ? "true" : "false");
  const bool experts = to_whole(whole("num_experts", "1")).value_or(1) > 1;
  put("model_type", experts ? "mixtral" : "llama");
  if (experts) {
    put("num_local_experts", whole("num_experts", "1"));
    put("num_experts_per_tok", whole("num_experts_per_tok", "1"));
  }
  return describe::parse_hf_config(render_json(config), where, data);
}

}  // namespace

std::vector<Setting> model_settings(const describe::Model& model, const describe::DataStore& data) {
  SettingWriter out;
  if (const auto name = name_of(model, data)) {
    out.text(kName, *name);
    return std::move(out).take();
  }
  const describe::Block* block = plain_block(model);
  if (block == nullptr) {
    return {};
  }
  const auto& attention = std::get<describe::Attention>(block->mixer);
  const auto* moe = std::get_if<describe::MoeFfn>(&block->ffn);
  out.text(kName, "default");
  out.text(kBlock, moe != nullptr ? "mixtral" : "llama2");
  out.whole("base_emb_dim", model.hidden);
  out.whole("base_num_query_heads", attention.heads);
  out.whole("base_num_kv_heads", attention.kv_heads);
  out.whole("base_mlp_dim",
            moe != nullptr ? moe->width : std::get<describe::DenseFfn>(block->ffn).width);
  out.whole("base_num_decoder_layers", model.layer_count());
  out.whole("head_dim", attention.head_dim);
  out.whole("vocab_size", model.vocab);
  out.flag("logits_via_embedding", model.tied_head);
  if (moe != nullptr) {
    out.whole("num_experts", moe->experts);
    out.whole("num_experts_per_tok", moe->topk);
    out.whole("base_moe_mlp_dim", moe->width);
  }
  return std::move(out).take();
}

std::optional<Result<describe::Model>> model_of(const Settings& settings,
                                                const describe::DataStore& data) {
  const std::string name = said_value(settings, kName).value_or("default");
  if (name == "default" || name.empty()) {
    return model_of_sizes(settings, data);
  }
  const auto table = names(data);
  const auto row = table ? table->table(name) : tl::unexpected(table.error());
  const auto catalogue = row ? row->text("model") : tl::unexpected(row.error());
  const std::string where = to_text(find(settings.given, kName)->place);
  if (!catalogue) {
    return invalid(fmt::format("model_name '{}' is none that is known here", printable(name)),
                   where, "give the model itself (--model)");
  }
  return describe::load_model(*catalogue, data);
}

}  // namespace sextant::emit::maxtext
