#include "emit/shape_facts.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/setting_values.h"

namespace sextant::emit {
namespace {

struct ShapeKey {
  Dialect dialect;
  std::string_view key;
  std::string_view field;
};

constexpr std::array kShapeKeys{
    ShapeKey{Dialect::kMegatron, "num_layers", "layers"},
    ShapeKey{Dialect::kMegatron, "hidden_size", "hidden"},
    ShapeKey{Dialect::kMegatron, "num_attention_heads", "heads"},
    ShapeKey{Dialect::kMegatron, "num_query_groups", "kv_heads"},
    ShapeKey{Dialect::kMegatron, "ffn_hidden_size", "ffn"},
    ShapeKey{Dialect::kMegatron, "num_experts", "experts"},
    ShapeKey{Dialect::kMegatron, "moe_router_topk", "topk"},
    ShapeKey{Dialect::kBridge, "model.num_layers", "layers"},
    ShapeKey{Dialect::kBridge, "model.hidden_size", "hidden"},
    ShapeKey{Dialect::kBridge, "model.num_attention_heads", "heads"},
    ShapeKey{Dialect::kBridge, "model.num_query_groups", "kv_heads"},
    ShapeKey{Dialect::kBridge, "model.ffn_hidden_size", "ffn"},
    ShapeKey{Dialect::kBridge, "model.num_moe_experts", "experts"},
    ShapeKey{Dialect::kBridge, "model.moe_router_topk", "topk"},
    ShapeKey{Dialect::kNanotron, "model.model_config.num_hidden_layers", "layers"},
    ShapeKey{Dialect::kNanotron, "model.model_config.hidden_size", "hidden"},
    ShapeKey{Dialect::kNanotron, "model.model_config.num_attention_heads", "heads"},
    ShapeKey{Dialect::kNanotron, "model.model_config.num_key_value_heads", "kv_heads"},
    ShapeKey{Dialect::kNanotron, "model.model_config.num_kv_heads", "kv_heads"},
    ShapeKey{Dialect::kNanotron, "model.model_config.intermediate_size", "ffn"},
    ShapeKey{Dialect::kNanotron, "model.model_config.moe_config.num_experts", "experts"},
    ShapeKey{Dialect::kNanotron, "model.model_config.moe_config.top_k", "topk"},
    ShapeKey{Dialect::kNanotron, "model.model_config.vocab_size", "vocab"},
    ShapeKey{Dialect::kMaxtext, "base_num_decoder_layers", "layers"},
    ShapeKey{Dialect::kMaxtext, "base_emb_dim", "hidden"},
    ShapeKey{Dialect::kMaxtext, "base_num_query_heads", "heads"},
    ShapeKey{Dialect::kMaxtext, "base_num_kv_heads", "kv_heads"},
    ShapeKey{Dialect::kMaxtext, "base_mlp_dim", "ffn"},
    ShapeKey{Dialect::kMaxtext, "num_experts", "experts"},
    ShapeKey{Dialect::kMaxtext, "num_experts_per_tok", "topk"},
    ShapeKey{Dialect::kMaxtext, "vocab_size", "vocab"}};

}  // namespace

void add_shape_facts(const Settings& settings, Reading& reading) {
  for (const ShapeKey& row : kShapeKeys) {
    const Setting* setting =
        row.dialect == settings.dialect ? find(settings.given, row.key) : nullptr;
    const auto value = setting == nullptr || setting->values.size() != 1
                           ? std::nullopt
                           : to_whole(setting->values.front());
    const bool said = std::ranges::any_of(
        reading.facts, [&](const Fact& fact) { return fact.field == row.field; });
    if (value && *value > 0 && !said) {
      reading.facts.push_back({std::string(row.field), std::to_string(*value),
                               fmt::format("{} = {}", row.key, printable(setting->values.front())),
                               setting->place});
    }
  }
}

}  // namespace sextant::emit
