#include "measured/table_model.h"

#include <algorithm>

#include <fmt/format.h>

#include "describe/model/parameters.h"

namespace sextant::measured {

namespace {

constexpr std::int64_t kMostShapeLayers = 100'000;
constexpr std::int64_t kMostShapeSize = 10'000'000;
constexpr std::int64_t kGpt2Positions = 1024;  // Source: Hugging Face GPT2Config, n_positions
constexpr std::int64_t kQwen3HeadDim = 128;    // Source: Hugging Face Qwen3Config, head_dim

}  // namespace

void check_shape(const TableShape& shape, Cells& cells) {
  const auto check = [&cells](std::string_view column, std::int64_t value, std::int64_t most) {
    if (value < 1 || value > most) {
      cells.reject(column, "out of range", fmt::format("1 to {}", most));
    }
  };
  check("layers", shape.layers, kMostShapeLayers);
  check("hidden", shape.hidden, kMostShapeSize);
  check("ffn", shape.ffn, kMostShapeSize);
  check("heads", shape.heads, kMostShapeSize);
  check("vocab", shape.vocab, kMostShapeSize);
  check("seq", shape.seq, kMostShapeSize);
  if (shape.kv_heads < 1 || shape.kv_heads > shape.heads || shape.heads > shape.hidden) {
    cells.reject("heads", "no heads of that hidden size", "hidden >= heads >= kv heads >= 1");
  }
}

describe::Model table_model(const TableShape& shape) {
  const bool gpt2 = shape.family == TableFamily::kGpt2;
  const bool qwen3 = shape.family == TableFamily::kQwen3;
  const bool plain = shape.family == TableFamily::kPlain;
  describe::Model model;
  model.name = shape.name;
  if (!plain) {
    const char* const llama_or_qwen = qwen3 ? "qwen3" : "llama";
    model.family = gpt2 ? "gpt2" : llama_or_qwen;
  }
  model.hidden = shape.hidden;
  model.vocab = shape.vocab;
  model.tied_head = gpt2;
  model.norm = {.has_weight = true, .has_bias = gpt2 || plain, .subtracts_mean = gpt2 || plain};
  model.learned_positions = gpt2 ? std::max(kGpt2Positions, shape.seq) : 0;
  describe::Attention attention;
  attention.heads = shape.heads;
  attention.kv_heads = shape.kv_heads;
  attention.head_dim = qwen3 ? kQwen3HeadDim : shape.hidden / shape.heads;
  attention.qkv_bias = gpt2;
  attention.output_bias = gpt2;
  attention.rotary = !gpt2 && !plain;
  attention.qk_norm = qwen3 ? describe::QkNorm::kPerHead : describe::QkNorm::kNone;
  describe::Block block;
  block.mixer = attention;
  block.ffn = describe::DenseFfn{.width = shape.ffn, .gated = !gpt2 && !plain, .bias = gpt2};
  model.blocks.push_back(block);
  model.layers.assign(static_cast<std::size_t>(shape.layers), 0);
  if (shape.parameters) {
    model.tied_head = false;
    const std::int64_t untied = describe::model_parameters(model).total();
    model.tied_head = *shape.parameters <= untied - shape.hidden * shape.vocab / 2;
  }
  return model;
}

}  // namespace sextant::measured
