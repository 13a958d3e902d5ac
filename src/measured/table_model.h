// Models of the small tables: a name of a family and the usual shape columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "describe/model/model.h"
#include "measured/cells.h"

namespace sextant::measured {

// Families of Hugging Face models in these tables.
enum class TableFamily { kLlama, kGpt2, kQwen3, kPlain };

struct TableShape {
  std::string name;
  TableFamily family = TableFamily::kLlama;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t vocab = 0;
  std::int64_t seq = 0;
  std::optional<std::int64_t> parameters;  // of the whole model: tells whether the head is tied
};

// Sizes that are zero, do not divide, or are out of range are rejected in `cells`.
void check_shape(const TableShape& shape, Cells& cells);

// REQUIRES: check_shape found nothing.
//   llama  gated, RMSNorm, no biases, head untied, head_dim = hidden / heads
//   qwen3  the same with head_dim 128 and a norm on queries and keys
//   gpt2   LayerNorm, biases, learned positions (1024, or the sequence where that is longer), tied
//   head plain  LayerNorm, two feed-forward matrices, no biases, no positions, untied head
// Where the table states the parameter count, it decides on tying.
describe::Model table_model(const TableShape& shape);

}  // namespace sextant::measured
