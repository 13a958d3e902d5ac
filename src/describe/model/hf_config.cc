// A config.json to a Model, in four steps: find the text part, find its family, plan the layers,
// read the sizes of each distinct plan.
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/json_value.h"
#include "describe/model/hf_blocks.h"
#include "describe/model/hf_family.h"
#include "describe/model/hf_fields.h"
#include "describe/model/hf_layers.h"
#include "describe/model/load_model.h"
#include "describe/model/parameters.h"

namespace sextant::describe {
namespace {

constexpr std::size_t kLongestName = 120;
constexpr std::size_t kLongestSource = 400;
constexpr int kMostWrappers = 3;

// Keys under which a configuration of several parts keeps that of its text part.
constexpr auto kWrappers = std::to_array<std::string_view>(
    {"text_config", "llm_config", "language_config", "thinker_config"});

// Fields that no decoder like Llama has.
constexpr auto kStrange = std::to_array<std::string_view>(
    {"ssm_state_size", "mamba_d_state", "state_size", "hc_mult", "linear_num_key_heads",
     "layers_block_type", "hybrid_override_pattern", "conv_L_cache", "encoder_layers",
     "num_decoder_layers", "relative_attention_num_buckets", "type_vocab_size"});

// The text part, the wrapper it was found in, and the model_types to try, best first.
struct TextPart {
  JsonValue config;
  std::optional<JsonValue> outer;
  std::vector<std::string> types;
};

Result<std::string> text_or_empty(const JsonValue& config, std::string_view key) {
  const std::optional<JsonValue> value = config.member(key);
  return value ? value->text() : Result<std::string>("");
}

// Step 1. Descend into text_config and its kin.
Result<TextPart> text_part(const JsonValue& document) {
  TextPart part{.config = document, .outer = std::nullopt, .types = {}};
  for (int depth = 0; depth <= kMostWrappers; ++depth) {
    if (part.config.kind() != JsonValue::Kind::kObject) {
      return invalid("is no object", part.config.where(), "a model configuration");
    }
    SEXTANT_TRY(std::string type, text_or_empty(part.config, "model_type"));
    if (!type.empty()) {
      part.types.insert(part.types.begin(), std::move(type));
    }
    std::optional<JsonValue> inner;
    for (const std::string_view key : kWrappers) {
      inner = inner ? inner : part.config.member(key);
    }
    if (!inner) {
      return part;
    }
    part.outer = part.config;
    part.config = *inner;
  }
  return invalid("wrapped too often", part.config.where(),
                 fmt::format("at most {} wrappers", kMostWrappers));
}

// "Qwen3MoeForCausalLM" → the model_type of Qwen3MoeConfig.
std::optional<std::string> type_of_architecture(const JsonValue& config, const HfTables& tables) {
  const std::optional<JsonValue> list = config.member("architectures");
  if (!list || list->kind() != JsonValue::Kind::kArray || list->size() == 0 || list->size() > 16) {
    return std::nullopt;
  }
  const Result<std::string> name = list->elements().front().text();
  if (!name) {
    return std::nullopt;
  }
  for (const std::string_view suffix :
       {"ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "Model"}) {
    if (name->ends_with(suffix)) {
      return family_of_class(tables, name->substr(0, name->size() - suffix.size()) + "Config");
    }
  }
  return std::nullopt;
}

struct FoundFamily {
  HfFamily family;
  std::optional<Assumption> note;  // of the architecture
};

// An unknown model_type: a decoder like Llama (or DeepSeek-V3, or with experts) if it has the
// fields of one and none that say otherwise.
Result<FoundFamily> guessed_family(const TextPart& part, const HfTables& tables,
                                   const std::string& type) {
  const std::vector<std::string> known = known_families(tables);
  const auto refused = [&](std::string_view why) {
    const std::string hint = did_you_mean(type, known);
    return invalid(fmt::format("model_type '{}' is not known and {}{}{}", printable(type), why,
                               hint.empty() ? "" : "; ", hint),
                   part.config.where(), join(known, ", "));
  };
  for (const std::string_view field : kStrange) {
    if (part.config.states(field)) {
      return refused(fmt::format("'{}' says that it is no decoder like Llama", field));
    }
  }
  for (const std::string_view field :
       {"hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"}) {
    if (!part.config.member(field)) {
      return refused(fmt::format("'{}' is missing to read it as a decoder like Llama", field));
    }
  }
  const bool latent = part.config.member("kv_lora_rank").has_value();
  bool experts = false;
  for (const std::string_view field :
       {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"}) {
    experts = experts || part.config.member(field).has_value();
  }
  const std::string_view like = latent ? "deepseek_v3" : (experts ? "experts_like_llama" : "llama");
  SEXTANT_TRY(HfFamily family, load_family(tables, like, part.config.where()));
  family.name = type;
  family.class_defaults.reset();
  family.class_name.clear();
  return FoundFamily{
      .family = std::move(family),
      .note = Assumption{"model_type",
                         latent    ? "a decoder like DeepSeek-V3"
                         : experts ? "a decoder like Llama with experts in each layer"
                                   : "a decoder like Llama",
                         fmt::format("'{}' is not known", printable(type)),
                         {}}};
}

// Step 2. The family.
Result<FoundFamily> find_family(const TextPart& part, const HfTables& tables) {
  for (const JsonValue* config : {&part.config, part.outer ? &*part.outer : nullptr}) {
    const std::optional<JsonValue> both =
        config != nullptr ? config->member("is_encoder_decoder") : std::nullopt;
    if (both && both->boolean() == true) {
      return invalid("an encoder-decoder model: only decoders are described", both->where(),
                     "is_encoder_decoder false");
    }
  }
  for (const std::string& type : part.types) {
    if (knows_family(tables, type)) {
      SEXTANT_TRY(HfFamily family, load_family(tables, type, part.config.where()));
      return FoundFamily{.family = std::move(family), .note = {}};
    }
  }
  const std::optional<std::string> by_class = type_of_architecture(part.config, tables);
  if (by_class && knows_family(tables, *by_class)) {
    SEXTANT_TRY(HfFamily family, load_family(tables, *by_class, part.config.where()));
    return FoundFamily{.family = std::move(family),
                       .note = Assumption{"model_type", *by_class, "from architectures", {}}};
  }
  if (part.types.empty()) {
    const std::vector<std::string> known = known_families(tables);
    return invalid("neither model_type nor a known architecture is stated", part.config.where(),
                   join(known, ", "));
  }
  return guessed_family(part, tables, part.types.front());
}

// Source: transformers models/opt/modeling_opt.py: where layers norm their output there is no final
// norm, and a narrower embedding is projected, which has no description here.
Result<void> read_opt(HfFields& fields, Model& model) {
  SEXTANT_TRY(const bool before, fields.flag("do_layer_norm_before"));
  model.final_norm = before;
  SEXTANT_TRY(const bool affine, fields.flag("layer_norm_elementwise_affine"));
  model.norm.has_weight = affine;
  model.norm.has_bias = affine;
  SEXTANT_TRY(const std::int64_t width,
              fields.integer_or("word_embed_proj_dim", kSizes, model.hidden));
  if (width != model.hidden) {
    return invalid(fmt::format("embeddings of {} are projected to {}", width, model.hidden),
                   fields.where("word_embed_proj_dim"), "word_embed_proj_dim = hidden_size");
  }
  return {};
}

// Step 3. Everything but the layers.
Result<void> read_model_ends(HfFields& fields, const HfFamily& family, Model& model) {
  SEXTANT_TRY(model.hidden, fields.integer("hidden_size", kSizes));
  SEXTANT_TRY(model.vocab, fields.integer("vocab_size", kSizes));
  SEXTANT_TRY(model.max_positions, fields.integer_or("max_position_embeddings", kSizes, 0));
  SEXTANT_TRY(model.tied_head, fields.flag("tie_word_embeddings"));
  SEXTANT_TRY(model.head_bias, fields.flag(family.head_bias));
  model.embedding_norm = family.embedding_norm;
  model.norm = family.norm;
  if (family.learned_positions) {
    SEXTANT_TRY(const std::int64_t rows, fields.integer("max_position_embeddings", kSizes));
    model.learned_positions = rows + family.position_offset;
  }
  return family.class_name == "OPTConfig" ? read_opt(fields, model) : Result<void>();
}

// Step 4. Layers: one block a distinct plan.
Result<void> read_layers(HfFields& fields, const HfFamily& family, Model& model) {
  SEXTANT_TRY(const std::vector<LayerPlan> plans, layer_plans(fields, family));
  std::vector<LayerPlan> distinct;
  const auto index_of = [&](const LayerPlan& plan) -> Result<int> {
    const auto found = std::ranges::find(distinct, plan);
    const auto index = static_cast<int>(found - distinct.begin());
    if (found == distinct.end()) {
      SEXTANT_TRY(Block block, block_of(fields, family, plan, model.hidden));
      distinct.push_back(plan);
      model.blocks.push_back(std::move(block));
    }
    return index;
  };
  for (const LayerPlan& plan : plans) {
    SEXTANT_TRY(const int index, index_of(plan));
    model.layers.push_back(index);
  }
  SEXTANT_TRY(const std::int64_t depth, fields.integer_or("num_nextn_predict_layers", {0, 16}, 0));
  if (depth > 0) {
    model.mtp_layers = static_cast<int>(depth);
    SEXTANT_TRY(model.mtp_block, index_of(mtp_plan(plans, family)));
  }
  return {};
}

Result<void> read_names(const JsonValue& document, std::string_view where, Model& model) {
  SEXTANT_TRY(const std::string ours, text_or_empty(document, "sextant_name"));
  SEXTANT_TRY(const std::string theirs, text_or_empty(document, "_name_or_path"));
  SEXTANT_TRY(const std::string source, text_or_empty(document, "sextant_source"));
  const std::string& name = ours.empty() ? theirs : ours;
  model.name = printable(name.empty() ? model.family : name, kLongestName);
  model.source = source.empty() ? std::string(where)
                                : fmt::format("{}; {}", where, printable(source, kLongestSource));
  return {};
}

}  // namespace

Result<Model> parse_hf_config(std::string_view json, std::string_view where,
                              const DataStore& data) {
  SEXTANT_TRY(const JsonValue document, JsonValue::parse(json, where));
  SEXTANT_TRY(const TextPart part, text_part(document));
  SEXTANT_TRY(const HfTables tables, load_hf_tables(data));
  SEXTANT_TRY(const FoundFamily found, find_family(part, tables));
  HfFields fields(part.config, part.outer, found.family);
  if (found.note) {
    fields.assume(*found.note);
  }
  Model model;
  model.family = found.family.name;
  SEXTANT_CHECK_OK(read_names(document, where, model));
  SEXTANT_CHECK_OK(read_model_ends(fields, found.family, model));
  SEXTANT_CHECK_OK(read_layers(fields, found.family, model));
  model.assumed = fields.assumed();
  if (Result<void> sized = check_size(model); !sized) {
    sized.error().where = std::string(where);
    return tl::unexpected(std::move(sized.error()));
  }
  return model;
}

}  // namespace sextant::describe
