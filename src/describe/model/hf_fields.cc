#include "describe/model/hf_fields.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::describe {
namespace {

// Source: the attribute_map of transformers' configuration classes, and names of classes that have
// none.
using Alias = std::pair<std::string_view, std::string_view>;
constexpr auto kAliases = std::to_array<Alias>({
    {"hidden_size", "n_embd"},
    {"hidden_size", "d_model"},
    {"hidden_size", "n_embed"},
    {"num_hidden_layers", "n_layer"},
    {"num_hidden_layers", "num_layers"},
    {"num_hidden_layers", "n_layers"},
    {"intermediate_size", "n_inner"},
    {"intermediate_size", "ffn_dim"},
    {"intermediate_size", "ffn_hidden_size"},
    {"num_attention_heads", "n_head"},
    {"num_attention_heads", "num_heads"},
    {"num_attention_heads", "n_heads"},
    {"num_key_value_heads", "num_kv_heads"},
    {"head_dim", "kv_channels"},
    {"max_position_embeddings", "n_positions"},
    {"max_position_embeddings", "max_seq_len"},
    {"max_position_embeddings", "seq_length"},
    {"num_experts", "num_local_experts"},
    {"num_experts", "n_routed_experts"},
    {"num_experts", "moe_num_experts"},
    {"num_experts_per_tok", "experts_per_token"},
    {"num_experts_per_tok", "moe_topk"},
    {"num_experts_per_tok", "moe_k"},
    {"num_experts_per_tok", "moe_top_k"},
    {"moe_intermediate_size", "expert_ffn_hidden_size"},
    {"n_shared_experts", "num_shared_experts"},
    {"n_shared_experts", "moe_num_shared_experts"},
    {"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size"},
    {"shared_expert_intermediate_size", "shared_intermediate_size"},
    {"num_nextn_predict_layers", "num_mtp_layers"},
    {"num_nextn_predict_layers", "mtp_num_hidden_layers"},
    {"sliding_window_pattern", "_sliding_window_pattern"},
    {"layer_types", "layers_block_type"},
    {"mamba_num_heads", "mamba_n_heads"},
    {"mamba_head_dim", "mamba_d_head"},
    {"n_groups", "mamba_n_groups"},
    {"ssm_state_size", "mamba_d_state"},
    {"ssm_state_size", "state_size"},
    {"conv_kernel", "mamba_d_conv"},
    {"chunk_size", "mamba_chunk_size"},
    {"expand", "mamba_expand"},
    {"use_conv_bias", "mamba_conv_bias"},
});

// "ffn_config.ffn_hidden_size": the object on the way, and the last key.
struct Place {
  std::optional<JsonValue> object;
  std::string key;
};

Place place_of(const JsonValue& config, std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) {
    return {.object = config, .key = std::string(path)};
  }
  return {.object = config.member(path.substr(0, dot)), .key = std::string(path.substr(dot + 1))};
}

}  // namespace

HfFields::HfFields(JsonValue config, std::optional<JsonValue> outer, const HfFamily& family)
    : config_(std::move(config)), outer_(std::move(outer)), family_(&family) {}

HfFields::Lookup HfFields::look_up(std::string_view field) const {
  const auto at = [&](std::string_view path) -> std::optional<Lookup> {
    const Place place = place_of(config_, path);
    if (!place.object || !place.object->states(place.key)) {
      return std::nullopt;
    }
    return Lookup{.stated = true, .value = place.object->member(place.key)};
  };
  for (const auto& [ours, theirs] : family_->renamed) {
    if (ours == field) {
      // A renamed field has no other name: "head_dim" of Mamba-2 is not attention's.
      return at(theirs).value_or(at(field).value_or(Lookup{}));
    }
  }
  if (const auto found = at(field)) {
    return *found;
  }
  for (const auto& [ours, theirs] : kAliases) {
    if (ours == field) {
      if (const auto found = at(theirs)) {
        return *found;
      }
    }
  }
  if (field == "tie_word_embeddings" && outer_ && outer_->states(field)) {
    return {.stated = true, .value = outer_->member(field)};
  }
  return {};
}

std::optional<JsonValue> HfFields::stated(std::string_view field) const {
  return look_up(field).value;
}

std::optional<JsonValue> HfFields::find(std::string_view field) {
  const Lookup lookup = look_up(field);
  if (lookup.stated) {
    return lookup.value;
  }
  const auto default_in = [&](const std::optional<JsonValue>& defaults) {
    return defaults ? defaults->member(field) : std::nullopt;
  };
  std::optional<JsonValue> value = default_in(family_->class_defaults);
  const bool of_class = value.has_value();
  if (!value) {
    value = default_in(family_->code_defaults);
  }
  if (!value) {
    return value;
  }
  // A feature that is off where nothing mentions it is not worth a note; a size or an "on" is.
  const bool off = value->kind() == JsonValue::Kind::kBoolean &&
                   (!of_class || (value->boolean() == false && field != "tie_word_embeddings"));
  if (!off) {
    const std::string owner = family_->class_name.empty() ? "the family" : family_->class_name;
    assume({std::string(field), value->json(), owner + "'s default", {}});
  }
  return value;
}

Result<std::optional<std::int64_t>> HfFields::optional_integer(std::string_view field,
                                                               Range range) {
  const std::optional<JsonValue> value = find(field);
  if (!value) {
    return std::optional<std::int64_t>();
  }
  SEXTANT_TRY(const std::int64_t number, value->integer(range.least, range.most));
  return std::optional<std::int64_t>(number);
}

Result<std::int64_t> HfFields::integer(std::string_view field, Range range) {
  SEXTANT_TRY(const std::optional<std::int64_t> number, optional_integer(field, range));
  if (!number) {
    return invalid(fmt::format("{} is missing and model_type '{}' has no default for it", field,
                               printable(family_->name)),
                   where(), fmt::format("an integer from {} to {}", range.least, range.most));
  }
  return *number;
}

Result<std::int64_t> HfFields::integer_or(std::string_view field, Range range,
                                          std::int64_t otherwise) {
  SEXTANT_TRY(const std::optional<std::int64_t> number, optional_integer(field, range));
  return number.value_or(otherwise);
}

Result<bool> HfFields::flag(std::string_view field) {
  const std::optional<JsonValue> value = find(field);
  if (!value) {
    return false;
  }
  return value->boolean();
}

Result<bool> HfFields::flag(const HfSwitch& when) {
  if (when.field.empty()) {
    return when.always;
  }
  return flag(when.field);
}

Result<std::vector<std::string>> HfFields::layer_words(std::string_view field,
                                                       std::int64_t layers) {
  std::vector<std::string> words;
  const std::optional<JsonValue> value = find(field);
  if (!value) {
    return words;
  }
  if (value->kind() != JsonValue::Kind::kArray || std::cmp_not_equal(value->size(), layers)) {
    return invalid(fmt::format("has {} elements", value->size()), value->where(),
                   fmt::format("a list with one word for each of the {} layers", layers));
  }
  for (const JsonValue& element : value->elements()) {
    SEXTANT_TRY(std::string word, element.text());
    words.push_back(std::move(word));
  }
  return words;
}

Result<std::vector<std::int64_t>> HfFields::integers(std::string_view field, Range range) {
  std::vector<std::int64_t> numbers;
  const std::optional<JsonValue> value = find(field);
  if (!value) {
    return numbers;
  }
  if (value->kind() != JsonValue::Kind::kArray ||
      std::cmp_greater(value->size(), kLayerCounts.most)) {
    return invalid(fmt::format("has {} elements", value->size()), value->where(),
                   fmt::format("a list of at most {} integers", kLayerCounts.most));
  }
  for (const JsonValue& element : value->elements()) {
    SEXTANT_TRY(const std::int64_t number, element.integer(range.least, range.most));
    numbers.push_back(number);
  }
  return numbers;
}

void HfFields::assume(Assumption assumption) {
  if (std::ranges::find(assumed_, assumption) == assumed_.end()) {
    assumed_.push_back(std::move(assumption));
  }
}

std::string HfFields::where(std::string_view field) const {
  const std::optional<JsonValue> value = stated(field);
  return value ? value->where() : where();
}

}  // namespace sextant::describe
