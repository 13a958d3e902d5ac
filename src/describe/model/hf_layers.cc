#include "describe/model/hf_layers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/words.h"

namespace sextant::describe {
namespace {

// Words of layer_types and layers_block_type.
constexpr auto kMixerWords = std::to_array<Word<MixerKind>>({
    {MixerKind::kFullAttention, "full_attention"},
    {MixerKind::kFullAttention, "attention"},
    {MixerKind::kLocalAttention, "sliding_attention"},
    {MixerKind::kLocalAttention, "chunked_attention"},
    {MixerKind::kDeltaNet, "linear_attention"},
    {MixerKind::kMamba, "mamba"},
});

Result<std::int64_t> layer_count(HfFields& fields) {
  return fields.integer("num_hidden_layers", kLayerCounts);
}

// What layer_types says, or nothing where it is not stated.
Result<std::vector<MixerKind>> stated_mixers(HfFields& fields, std::int64_t layers) {
  SEXTANT_TRY(const std::vector<std::string> words, fields.layer_words("layer_types", layers));
  std::vector<MixerKind> mixers;
  for (const std::string& word : words) {
    SEXTANT_TRY(const MixerKind mixer, parse_word(std::span<const Word<MixerKind>>(kMixerWords),
                                                  word, "layer type", fields.where("layer_types")));
    mixers.push_back(mixer);
  }
  return mixers;
}

// Step 1. Which layers have rotary positions, by no_rope_layers (1 = has) or its interval.
Result<std::vector<bool>> rotary_layers(HfFields& fields, const HfFamily& family,
                                        std::int64_t layers) {
  bool rotary = family.rotary;
  if (const auto kind = fields.stated("position_embedding_type")) {
    SEXTANT_TRY(const std::string word, kind->text());
    rotary = word == "rope" || word == "rotary";
  }
  SEXTANT_TRY(const bool alibi, fields.flag("alibi"));
  std::vector<bool> has(static_cast<std::size_t>(layers), rotary && !alibi);
  if (!family.no_rope_layers || !rotary) {
    return has;
  }
  SEXTANT_TRY(const auto stated, fields.integers("no_rope_layers", {0, 1}));
  if (!stated.empty() && stated.size() != has.size()) {
    return invalid(fmt::format("has {} elements", stated.size()), fields.where("no_rope_layers"),
                   fmt::format("one for each of the {} layers", layers));
  }
  SEXTANT_TRY(const std::int64_t interval,
              fields.integer_or("no_rope_layer_interval", kLayerCounts, kLayerCounts.most));
  for (std::size_t i = 0; i < has.size(); ++i) {
    has[i] = stated.empty() ? std::cmp_not_equal((i + 1) % static_cast<std::size_t>(interval), 0)
                            : stated[i] == 1;
  }
  return has;
}

// Source: transformers models/gpt_neo/configuration_gpt_neo.py: [[["global", "local"], 12], …].
Result<std::vector<MixerKind>> gpt_neo_mixers(HfFields& fields, std::int64_t layers) {
  std::vector<MixerKind> mixers;
  const auto types = fields.stated("attention_types");
  if (!types) {
    fields.assume({"attention_types", "global and local in turn", "GPTNeoConfig's default",
                   "transformers models/gpt_neo/configuration_gpt_neo.py"});
    for (std::int64_t i = 0; i < layers; ++i) {
      mixers.push_back(i % 2 == 0 ? MixerKind::kFullAttention : MixerKind::kLocalAttention);
    }
    return mixers;
  }
  const std::string allowed = "[[[\"global\", \"local\"], repeats], …], one word a layer in all";
  if (std::cmp_greater(types->size(), kLayerCounts.most)) {
    return invalid("has too many elements", types->where(), allowed);
  }
  for (const JsonValue& group : types->elements()) {
    const std::vector<JsonValue> pair =
        group.size() == 2 ? group.elements() : std::vector<JsonValue>();
    if (pair.size() != 2 || std::cmp_greater(pair[0].size(), kLayerCounts.most)) {
      return invalid("is no list of words and repeats", group.where(), allowed);
    }
    SEXTANT_TRY(const std::int64_t repeats, pair[1].integer(kLayerCounts.least, kLayerCounts.most));
    std::vector<MixerKind> once;
    for (const JsonValue& element : pair[0].elements()) {
      SEXTANT_TRY(const std::string word, element.text());
      once.push_back(word == "local" ? MixerKind::kLocalAttention : MixerKind::kFullAttention);
    }
    for (std::int64_t i = 0; i < repeats && std::cmp_less_equal(mixers.size(), layers); ++i) {
      mixers.insert(mixers.end(), once.begin(), once.end());
    }
  }
  if (std::cmp_not_equal(mixers.size(), layers)) {
    return invalid(fmt::format("does not name {} layers", layers), types->where(), allowed);
  }
  return mixers;
}

// sliding_window_pattern: a period (the last layer of each sees everything), or a word such as
// "LLLG".
Result<std::vector<MixerKind>> pattern_mixers(HfFields& fields, std::int64_t layers) {
  std::string letters;
  const auto pattern = fields.find("sliding_window_pattern");
  if (pattern && pattern->kind() == JsonValue::Kind::kString) {
    SEXTANT_TRY(letters, pattern->text());
    if (letters.empty() || letters.find_first_not_of("LG") != std::string::npos) {
      return invalid(fmt::format("is '{}'", printable(letters)), pattern->where(),
                     "an integer, or letters L (local) and G (global)");
    }
  } else {
    SEXTANT_TRY(const std::int64_t period,
                fields.integer_or("sliding_window_pattern", kLayerCounts, 1));
    letters.assign(static_cast<std::size_t>(period - 1), 'L');
    letters.push_back('G');
  }
  std::vector<MixerKind> mixers;
  for (std::size_t i = 0; std::cmp_less(i, layers); ++i) {
    mixers.push_back(letters[i % letters.size()] == 'L' ? MixerKind::kLocalAttention
                                                        : MixerKind::kFullAttention);
  }
  return mixers;
}

Result<std::vector<MixerKind>> windowed_mixers(HfFields& fields, const HfFamily& family,
                                               const std::vector<bool>& rotary) {
  const auto layers = static_cast<std::int64_t>(rotary.size());
  std::vector<MixerKind> all_full(rotary.size(), MixerKind::kFullAttention);
  if (family.window == HfWindow::kNone) {
    return all_full;
  }
  if (family.window == HfWindow::kGptNeo) {
    return gpt_neo_mixers(fields, layers);
  }
  const bool from_layer = family.window == HfWindow::kFromLayer;
  SEXTANT_TRY(const bool used, from_layer ? fields.flag("use_sliding_window") : Result<bool>(true));
  if (!used) {
    return all_full;
  }
  const bool chunked = family.window == HfWindow::kChunked;
  SEXTANT_TRY(
      const std::int64_t window,
      fields.integer_or(chunked ? "attention_chunk_size" : "sliding_window", kSizesOrNone, 0));
  if (window == 0) {
    return all_full;
  }
  SEXTANT_TRY(std::vector<MixerKind> stated, stated_mixers(fields, layers));
  if (!stated.empty()) {
    return stated;
  }
  if (family.window == HfWindow::kPattern) {
    return pattern_mixers(fields, layers);
  }
  SEXTANT_TRY(const std::int64_t first,
              from_layer ? fields.integer_or("max_window_layers", kLayerIndices, 0)
                         : Result<std::int64_t>(0));
  std::vector<MixerKind> mixers = all_full;
  for (auto i = static_cast<std::size_t>(first); i < mixers.size(); ++i) {
    if (!chunked || rotary[i]) {
      mixers[i] = MixerKind::kLocalAttention;
    }
  }
  return mixers;
}

Result<std::vector<MixerKind>> hybrid_mixers(HfFields& fields, const HfFamily& family,
                                             std::int64_t layers) {
  SEXTANT_TRY(std::vector<MixerKind> mixers, stated_mixers(fields, layers));
  if (!mixers.empty()) {
    return mixers;
  }
  const auto size = static_cast<std::size_t>(layers);
  if (family.layers == HfLayers::kDeltaNet) {
    SEXTANT_TRY(const std::int64_t interval,
                fields.integer("full_attention_interval", kLayerCounts));
    mixers.assign(size, MixerKind::kDeltaNet);
    for (auto i = static_cast<std::size_t>(interval) - 1; i < size;
         i += static_cast<std::size_t>(interval)) {
      mixers[i] = MixerKind::kFullAttention;
    }
    return mixers;
  }
  mixers.assign(size, MixerKind::kMamba);
  SEXTANT_TRY(const auto attention, fields.integers("attn_layer_indices", {0, layers - 1}));
  for (const std::int64_t layer : attention) {
    mixers[static_cast<std::size_t>(layer)] = MixerKind::kFullAttention;
  }
  return mixers;
}

// Step 2. Mixers. A layer without local rotary positions has none at all in some families.
Result<std::vector<LayerPlan>> mixer_plans(HfFields& fields, const HfFamily& family,
                                           std::int64_t layers) {
  SEXTANT_TRY(const std::vector<bool> rotary, rotary_layers(fields, family, layers));
  const bool windowed = family.layers == HfLayers::kSame;
  SEXTANT_TRY(const std::vector<MixerKind> mixers, windowed
                                                       ? windowed_mixers(fields, family, rotary)
                                                       : hybrid_mixers(fields, family, layers));
  const bool any_local = std::ranges::find(mixers, MixerKind::kLocalAttention) != mixers.end();
  std::vector<LayerPlan> plans(mixers.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    plans[i].mixer = mixers[i];
    plans[i].rotary = rotary[i] && (!family.local_rotary_only || !any_local ||
                                    mixers[i] == MixerKind::kLocalAttention);
  }
  return plans;
}

// Source: transformers models/nemotron_h/configuration_nemotron_h.py: M, *, -, E.
Result<LayerPlan> single_part(std::string_view word, std::string_view where) {
  if (word == "M" || word == "mamba") {
    return LayerPlan{.mixer = MixerKind::kMamba, .ffn = FfnKind::kNone};
  }
  if (word == "*" || word == "attention") {
    return LayerPlan{.mixer = MixerKind::kFullAttention, .ffn = FfnKind::kNone};
  }
  if (word == "-" || word == "mlp") {
    return LayerPlan{.mixer = MixerKind::kNone, .ffn = FfnKind::kDense};
  }
  if (word == "E" || word == "moe") {
    return LayerPlan{.mixer = MixerKind::kNone, .ffn = FfnKind::kExperts};
  }
  return invalid(fmt::format("'{}' is no kind of layer", printable(word)), std::string(where),
                 "M or mamba, * or attention, - or mlp, E or moe");
}

Result<std::vector<LayerPlan>> single_part_plans(HfFields& fields, const HfFamily& family) {
  const auto pattern = fields.stated("hybrid_override_pattern");
  const auto list = pattern ? pattern : fields.stated("layer_types");
  if (!list) {
    return invalid("neither hybrid_override_pattern nor layers_block_type is stated",
                   fields.where(), "the kind of each layer");
  }
  std::vector<std::string> words;
  if (list->kind() == JsonValue::Kind::kString) {
    SEXTANT_TRY(const std::string letters, list->text());
    for (const char letter : letters) {
      words.emplace_back(1, letter);
    }
  } else {
    SEXTANT_TRY(words, fields.layer_words("layer_types", static_cast<std::int64_t>(list->size())));
  }
  SEXTANT_TRY(const std::int64_t layers,
              fields.integer_or("num_hidden_layers", kLayerCounts,
                                static_cast<std::int64_t>(words.size())));
  if (words.empty() || std::cmp_greater(words.size(), kLayerCounts.most) ||
      std::cmp_not_equal(words.size(), layers)) {
    return invalid(fmt::format("names {} layers", words.size()), list->where(),
                   fmt::format("num_hidden_layers is {}, at most {}", layers, kLayerCounts.most));
  }
  std::vector<LayerPlan> plans;
  for (const std::string& word : words) {
    SEXTANT_TRY(LayerPlan plan, single_part(word, list->where()));
    plan.rotary = family.rotary;
    plans.push_back(plan);
  }
  return plans;
}

}  // namespace

Result<std::vector<LayerPlan>> layer_plans(HfFields& fields, const HfFamily& family) {
  if (family.layers == HfLayers::kBlocks) {
    return single_part_plans(fields, family);
  }
  SEXTANT_TRY(const std::int64_t layers, layer_count(fields));
  if (family.layers == HfLayers::kMamba) {
    return std::vector<LayerPlan>(static_cast<std::size_t>(layers),
                                  {.mixer = MixerKind::kMamba, .ffn = FfnKind::kNone});
  }
  SEXTANT_TRY(std::vector<LayerPlan> plans, mixer_plans(fields, family, layers));
  // Step 3. Feed-forward parts.
  SEXTANT_TRY(const std::vector<bool> experts, expert_layers(fields, family, layers));
  for (std::size_t i = 0; i < plans.size(); ++i) {
    plans[i].ffn = experts[i] ? FfnKind::kExperts : FfnKind::kDense;
  }
  return plans;
}

LayerPlan mtp_plan(const std::vector<LayerPlan>& plans, const HfFamily& family) {
  if (family.layers != HfLayers::kBlocks) {
    return plans.back();
  }
  const bool experts = std::ranges::any_of(
      plans, [](const LayerPlan& plan) { return plan.ffn == FfnKind::kExperts; });
  return {.mixer = MixerKind::kFullAttention,
          .ffn = experts ? FfnKind::kExperts : FfnKind::kDense,
          .rotary = family.rotary};
}

}  // namespace sextant::describe
