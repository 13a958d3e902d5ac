// Small configurations, for the tests of this folder.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/result.h"
#include "describe/data_store.h"
#include "describe/model/load_model.h"
#include "describe/model/model.h"

namespace sextant::describe {

inline Result<Model> parsed(std::string_view json) {
  return parse_hf_config(json, "config.json", DataStore());
}

inline Model model_of(std::string_view json) {
  Result<Model> model = parsed(json);
  EXPECT_TRUE(model) << to_text(model.error());
  return model ? *model : Model();
}

inline std::string error_of(std::string_view json) {
  const Result<Model> model = parsed(json);
  return model ? "no error" : to_text(model.error());
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

inline bool assumes(const Model& model, std::string_view text) {
  return contains(to_text(model.assumed), text);
}

constexpr std::string_view kSmallLlama = R"({"model_type": "llama", "hidden_size": 64,
  "num_hidden_layers": 4, "intermediate_size": 128, "num_attention_heads": 4, "vocab_size": 100,
  "num_key_value_heads": 2, "max_position_embeddings": 256, "tie_word_embeddings": false)";

inline std::string small(std::string_view model_type, std::string_view more) {
  std::string text(kSmallLlama);
  text.replace(text.find("llama"), 5, model_type);
  return text + std::string(more.empty() ? "" : ", ") + std::string(more) + "}";
}

// Windows of all layers, in order; −1: no attention there.
inline std::vector<std::int64_t> windows(const Model& model) {
  std::vector<std::int64_t> found;
  for (const int index : model.layers) {
    const auto* attention =
        std::get_if<Attention>(&model.blocks[static_cast<std::size_t>(index)].mixer);
    found.push_back(attention != nullptr ? attention->window : -1);
  }
  return found;
}

// Per layer: 'E' experts, 'D' dense, '.' neither.
inline std::string ffns(const Model& model) {
  std::string letters;
  for (const int index : model.layers) {
    const Ffn& ffn = model.blocks[static_cast<std::size_t>(index)].ffn;
    letters += std::holds_alternative<MoeFfn>(ffn)     ? 'E'
               : std::holds_alternative<DenseFfn>(ffn) ? 'D'
                                                       : '.';
  }
  return letters;
}

// Per layer: 'A' attention, 'L' latent, 'M' Mamba-2, 'G' Gated DeltaNet, '.' none.
inline std::string mixers(const Model& model) {
  std::string letters;
  for (const int index : model.layers) {
    letters += std::string(".ALMG")[model.blocks[static_cast<std::size_t>(index)].mixer.index()];
  }
  return letters;
}

inline const Attention& first_attention(const Model& model) {
  for (const Block& block : model.blocks) {
    if (const auto* attention = std::get_if<Attention>(&block.mixer)) {
      return *attention;
    }
  }
  static const Attention kNone;
  return kNone;
}

}  // namespace sextant::describe
