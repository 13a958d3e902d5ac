#include "describe/model/hf_family.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/words.h"

namespace sextant::describe {
namespace {

constexpr int kLongestChain = 4;

constexpr auto kMixers = std::to_array<Word<HfMixer>>({
    {HfMixer::kAttention, "attention"},
    {HfMixer::kLatent, "latent"},
});
constexpr auto kLayers = std::to_array<Word<HfLayers>>({
    {HfLayers::kSame, "same"},
    {HfLayers::kDeltaNet, "deltanet"},
    {HfLayers::kBlocks, "blocks"},
    {HfLayers::kMambaAttention, "mamba_attention"},
    {HfLayers::kMamba, "mamba"},
});
constexpr auto kWindows = std::to_array<Word<HfWindow>>({
    {HfWindow::kNone, "none"},
    {HfWindow::kAll, "all"},
    {HfWindow::kFromLayer, "from_layer"},
    {HfWindow::kPattern, "pattern"},
    {HfWindow::kChunked, "chunked"},
    {HfWindow::kGptNeo, "gpt_neo"},
});
constexpr auto kExperts = std::to_array<Word<HfExperts>>({
    {HfExperts::kNone, "none"},
    {HfExperts::kAll, "all"},
    {HfExperts::kFirstDense, "first_dense"},
    {HfExperts::kSparseStep, "sparse_step"},
    {HfExperts::kInterleave, "interleave"},
    {HfExperts::kInterval, "interval"},
});
constexpr auto kShared = std::to_array<Word<HfShared>>({
    {HfShared::kNone, "none"},
    {HfShared::kCount, "count"},
    {HfShared::kWidth, "width"},
    {HfShared::kOne, "one"},
});
constexpr auto kQkNorms = std::to_array<Word<QkNorm>>({
    {QkNorm::kNone, "none"},
    {QkNorm::kPerHead, "per_head"},
    {QkNorm::kWholeProjection, "whole"},
});

enum class NormWord { kRms, kLayer, kLayerNoBias, kPlain };
constexpr auto kNorms = std::to_array<Word<NormWord>>({
    {NormWord::kRms, "rms"},
    {NormWord::kLayer, "layer"},
    {NormWord::kLayerNoBias, "layer_no_bias"},
    {NormWord::kPlain, "plain"},
});

constexpr auto kProperties = std::to_array<std::string_view>({"source",
                                                              "like",
                                                              "refuse",
                                                              "defaults_of",
                                                              "fields",
                                                              "defaults",
                                                              "norm",
                                                              "norms",
                                                              "norms_when_parallel",
                                                              "gated",
                                                              "qkv_bias",
                                                              "output_bias",
                                                              "mlp_bias",
                                                              "head_bias",
                                                              "parallel",
                                                              "output_gate",
                                                              "qk_norm",
                                                              "qk_norm_when",
                                                              "sinks",
                                                              "rotary",
                                                              "local_rotary_only",
                                                              "no_rope_layers",
                                                              "learned_positions",
                                                              "position_offset",
                                                              "embedding_norm",
                                                              "mixer",
                                                              "layers",
                                                              "window",
                                                              "experts",
                                                              "expert_width",
                                                              "dense_width",
                                                              "shared",
                                                              "shared_gate",
                                                              "router_bias",
                                                              "expert_bias",
                                                              "correction_bias"});

// A row and the rows it is like, nearest first.
class Chain {
 public:
  static Result<Chain> follow(const HfTables& tables, std::string_view model_type) {
    Chain chain;
    std::string name(model_type);
    for (int i = 0; i < kLongestChain; ++i) {
      const std::optional<JsonValue> row = tables.families.member(name);
      if (!row) {
        return invalid(fmt::format("no family '{}'", printable(name)), tables.families.where());
      }
      SEXTANT_CHECK_OK(check_keys(*row));
      chain.names_.push_back(name);
      chain.rows_.push_back(*row);
      const std::optional<JsonValue> like = row->member("like");
      if (!like) {
        return chain;
      }
      SEXTANT_TRY(name, like->text());
    }
    return invalid("a chain of 'like' that is too long", tables.families.where(),
                   fmt::format("at most {} rows", kLongestChain));
  }

  [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const {
    for (const JsonValue& row : rows_) {
      if (std::optional<JsonValue> value = row.member(key)) {
        return value;
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  Result<void> read(std::string_view key, bool& into) const {
    if (const auto value = find(key)) {
      SEXTANT_TRY(into, value->boolean());
    }
    return {};
  }
  Result<void> read(std::string_view key, int& into) const {
    if (const auto value = find(key)) {
      SEXTANT_TRY(const std::int64_t number, value->integer(0, 16));
      into = static_cast<int>(number);
    }
    return {};
  }
  Result<void> read(std::string_view key, std::string& into) const {
    if (const auto value = find(key)) {
      SEXTANT_TRY(into, value->text());
    }
    return {};
  }
  Result<void> read(std::string_view key, HfSwitch& into) const {
    const auto value = find(key);
    if (!value) {
      return {};
    }
    into = {};
    if (value->kind() == JsonValue::Kind::kString) {
      SEXTANT_TRY(into.field, value->text());
      return {};
    }
    SEXTANT_TRY(into.always, value->boolean());
    return {};
  }
  template <typename E>
  Result<void> read(std::string_view key, std::span<const Word<E>> words, E& into) const {
    if (const auto value = find(key)) {
      SEXTANT_TRY(const std::string text, value->text());
      SEXTANT_TRY(into, parse_word(words, text, key, value->where()));
    }
    return {};
  }

 private:
  static Result<void> check_keys(const JsonValue& row) {
    for (const std::string& key : row.keys()) {
      if (std::ranges::find(kProperties, key) == kProperties.end()) {
        return unknown_word(key, {kProperties.begin(), kProperties.end()}, "property of a family",
                            row.where());
      }
    }
    return {};
  }

  std::vector<std::string> names_;
  std::vector<JsonValue> rows_;
};

Result<void> read_norms(const Chain& chain, HfFamily& family) {
  NormWord norm = NormWord::kRms;
  SEXTANT_CHECK_OK(chain.read("norm", std::span<const Word<NormWord>>(kNorms), norm));
  family.norm = {.has_weight = norm != NormWord::kPlain,
                 .has_bias = norm == NormWord::kLayer,
                 .subtracts_mean = norm != NormWord::kRms};
  SEXTANT_CHECK_OK(chain.read("norms", family.norms));
  if (const auto value = chain.find("norms_when_parallel")) {
    SEXTANT_TRY(const std::int64_t number, value->integer(0, 16));
    family.norms_when_parallel = static_cast<int>(number);
  }
  return {};
}

Result<void> read_attention(const Chain& chain, HfFamily& family) {
  SEXTANT_CHECK_OK(chain.read("mixer", std::span<const Word<HfMixer>>(kMixers), family.mixer));
  SEXTANT_CHECK_OK(chain.read("layers", std::span<const Word<HfLayers>>(kLayers), family.layers));
  SEXTANT_CHECK_OK(chain.read("window", std::span<const Word<HfWindow>>(kWindows), family.window));
  SEXTANT_CHECK_OK(chain.read("qk_norm", std::span<const Word<QkNorm>>(kQkNorms), family.qk_norm));
  SEXTANT_CHECK_OK(chain.read("qk_norm_when", family.qk_norm_when));
  SEXTANT_CHECK_OK(chain.read("qkv_bias", family.qkv_bias));
  SEXTANT_CHECK_OK(chain.read("output_bias", family.output_bias));
  SEXTANT_CHECK_OK(chain.read("output_gate", family.output_gate));
  SEXTANT_CHECK_OK(chain.read("sinks", family.sinks));
  SEXTANT_CHECK_OK(chain.read("rotary", family.rotary));
  SEXTANT_CHECK_OK(chain.read("local_rotary_only", family.local_rotary_only));
  return chain.read("no_rope_layers", family.no_rope_layers);
}

Result<void> read_ffn(const Chain& chain, HfFamily& family) {
  SEXTANT_CHECK_OK(chain.read("gated", family.gated));
  SEXTANT_CHECK_OK(chain.read("mlp_bias", family.mlp_bias));
  SEXTANT_CHECK_OK(
      chain.read("experts", std::span<const Word<HfExperts>>(kExperts), family.experts));
  SEXTANT_CHECK_OK(chain.read("expert_width", family.expert_width));
  SEXTANT_CHECK_OK(chain.read("dense_width", family.dense_width));
  SEXTANT_CHECK_OK(chain.read("shared", std::span<const Word<HfShared>>(kShared), family.shared));
  SEXTANT_CHECK_OK(chain.read("shared_gate", family.shared_gate));
  SEXTANT_CHECK_OK(chain.read("router_bias", family.router_bias));
  SEXTANT_CHECK_OK(chain.read("expert_bias", family.expert_bias));
  return chain.read("correction_bias", family.correction_bias);
}

Result<void> read_family_ends(const Chain& chain, HfFamily& family) {
  SEXTANT_CHECK_OK(chain.read("parallel", family.parallel));
  SEXTANT_CHECK_OK(chain.read("head_bias", family.head_bias));
  SEXTANT_CHECK_OK(chain.read("learned_positions", family.learned_positions));
  SEXTANT_CHECK_OK(chain.read("position_offset", family.position_offset));
  return chain.read("embedding_norm", family.embedding_norm);
}

Result<void> read_renamed(const Chain& chain, HfFamily& family) {
  const auto fields = chain.find("fields");
  if (!fields) {
    return {};
  }
  for (std::string& key : fields->keys()) {
    const auto path = fields->member(key);
    if (path) {
      SEXTANT_TRY(std::string renamed, path->text());
      family.renamed.emplace_back(std::move(key), std::move(renamed));
    }
  }
  return {};
}

// Class defaults of the nearest row that has a class, or of the class that `defaults_of` names.
Result<void> read_defaults(const Chain& chain, const HfTables& tables, HfFamily& family) {
  family.code_defaults = chain.find("defaults");
  std::vector<std::string> names = chain.names();
  if (const auto of = chain.find("defaults_of")) {
    SEXTANT_TRY(std::string name, of->text());
    names = {std::move(name)};
  }
  const auto known = std::ranges::find_if(
      names, [&](const std::string& name) { return tables.classes.states(name); });
  const auto entry = known != names.end() ? tables.classes.member(*known) : std::nullopt;
  if (!entry) {
    return {};
  }
  family.class_defaults = entry->member("defaults");
  if (const auto class_name = entry->member("class")) {
    SEXTANT_TRY(family.class_name, class_name->text());
  }
  return {};
}

Result<JsonValue> load_table(const DataStore& data, std::string_view path, std::string_view key) {
  SEXTANT_TRY(const std::string text, data.read(path));
  SEXTANT_TRY(const JsonValue document, JsonValue::parse(text, data.where(path)));
  const std::optional<JsonValue> table = document.member(key);
  if (!table || table->kind() != JsonValue::Kind::kObject) {
    return invalid(fmt::format("no '{}'", key), data.where(path), "an object");
  }
  return *table;
}

Result<HfTables> parsed_hf_tables(const DataStore& data) {
  SEXTANT_TRY(JsonValue families, load_table(data, "hf/families.json", "families"));
  SEXTANT_TRY(JsonValue classes, load_table(data, "hf/class_defaults.json", "classes"));
  return HfTables{.families = std::move(families), .classes = std::move(classes)};
}

}  // namespace

// Tens of kilobytes of JSON: those built in are parsed once, not once a model.
Result<HfTables> load_hf_tables(const DataStore& data) {
  static const Result<HfTables> kBuiltIn = parsed_hf_tables(DataStore());
  return data.override_folder() ? parsed_hf_tables(data) : kBuiltIn;
}

bool knows_family(const HfTables& tables, std::string_view model_type) {
  return tables.families.member(model_type).has_value();
}

std::vector<std::string> known_families(const HfTables& tables) {
  std::vector<std::string> names;
  for (std::string& name : tables.families.keys()) {
    const auto row = tables.families.member(name);
    if (row && !row->states("refuse")) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

std::optional<std::string> family_of_class(const HfTables& tables, std::string_view class_name) {
  for (const std::string& name : tables.classes.keys()) {
    const auto entry = tables.classes.member(name);
    const auto found = entry ? entry->member("class") : std::nullopt;
    const Result<std::string> text = found ? found->text() : Result<std::string>("");
    if (text && *text == class_name) {
      return name;
    }
  }
  return std::nullopt;
}

Result<HfFamily> load_family(const HfTables& tables, std::string_view model_type,
                             std::string_view where) {
  SEXTANT_TRY(const Chain chain, Chain::follow(tables, model_type));
  if (const auto refuse = chain.find("refuse")) {
    SEXTANT_TRY(const std::string reason, refuse->text());
    const std::vector<std::string> known = known_families(tables);
    return invalid(
        fmt::format("model_type '{}' can't be described: {}", printable(model_type), reason),
        std::string(where), join(known, ", "));
  }
  HfFamily family;
  family.name = model_type;
  SEXTANT_CHECK_OK(chain.read("source", family.source));
  SEXTANT_CHECK_OK(read_norms(chain, family));
  SEXTANT_CHECK_OK(read_attention(chain, family));
  SEXTANT_CHECK_OK(read_ffn(chain, family));
  SEXTANT_CHECK_OK(read_family_ends(chain, family));
  SEXTANT_CHECK_OK(read_renamed(chain, family));
  SEXTANT_CHECK_OK(read_defaults(chain, tables, family));
  return family;
}

}  // namespace sextant::describe
