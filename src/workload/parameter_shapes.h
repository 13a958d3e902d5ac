// The parameters of a block one by one: rows, columns and how tensor parallelism splits them.
//
// weights.h has their sums; here are the shapes, for whoever pads, shards or reduces parameter by
// parameter (FSDP2) or asks which of them every tensor-parallel rank holds whole. Rows are output
// features, as PyTorch stores them (dimension 0).
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>

#include "describe/model/model.h"
#include "workload/shard.h"

namespace sextant::workload {

enum class Split : std::uint8_t {
  kWhole,
  kRows,     // column-parallel products: output features divided
  kColumns,  // row-parallel products: input features divided
};

struct ParameterShape {
  std::int64_t rows = 0;
  std::int64_t columns = 1;
  Split split = Split::kWhole;
  std::int64_t count = 1;  // parameters of this shape
  // So many groups of rows are kept whole, at least one on every rank (kv heads, Mamba's states).
  std::int64_t groups = 0;
  std::int64_t group_rows = 0;
  bool norm = false;         // a norm's: under sequence parallelism its gradient is a partial sum
  std::int64_t experts = 0;  // > 0: each of so many experts has one; `split` is over etp

  // Rows and columns on one of `ranks` ranks.
  [[nodiscard]] constexpr std::int64_t local_rows(std::int64_t ranks) const {
    return split == Split::kRows ? divided_up(rows - groups * group_rows, ranks) +
                                       divided_up(groups, ranks) * group_rows
                                 : rows;
  }
  [[nodiscard]] constexpr std::int64_t local_columns(std::int64_t ranks) const {
    return split == Split::kColumns ? divided_up(columns, ranks) : columns;
  }
};

namespace internal {

template <class Visit>
void visit_norm(const describe::Model& model, std::int64_t width, std::int64_t norms,
                const Visit& visit) {
  const std::int64_t vectors = (model.norm.has_weight ? 1 : 0) + (model.norm.has_bias ? 1 : 0);
  if (vectors * norms > 0) {
    visit(ParameterShape{.rows = width, .count = vectors * norms, .norm = true});
  }
}

template <class Visit>
void visit_mixer(const describe::Model& /*model*/, const std::monostate& /*none*/,
                 const Visit& /*visit*/) {}

template <class Visit>
void visit_mixer(const describe::Model& model, const describe::Attention& a, const Visit& visit) {
  const std::int64_t h = model.hidden;
  const std::int64_t queries = a.heads * a.head_dim;
  const std::int64_t keys = a.kv_heads * a.head_dim;
  const std::int64_t projected = queries * (a.output_gate ? 2 : 1);
  visit(ParameterShape{.rows = projected, .columns = h, .split = Split::kRows});
  visit(ParameterShape{.rows = keys,
                       .columns = h,
                       .split = Split::kRows,
                       .count = 2,
                       .groups = a.kv_heads,
                       .group_rows = a.head_dim});
  visit(ParameterShape{.rows = h, .columns = queries, .split = Split::kColumns});
  if (a.qkv_bias) {
    visit(ParameterShape{.rows = projected, .split = Split::kRows});
    visit(ParameterShape{.rows = keys,
                         .split = Split::kRows,
                         .count = 2,
                         .groups = a.kv_heads,
                         .group_rows = a.head_dim});
  }
  if (a.output_bias) {
    visit(ParameterShape{.rows = h});
  }
  if (a.qk_norm == describe::QkNorm::kPerHead) {
    visit(ParameterShape{.rows = a.head_dim, .count = 2, .norm = true});
  } else if (a.qk_norm == describe::QkNorm::kWholeProjection) {
    visit(ParameterShape{.rows = queries, .split = Split::kRows});
    visit(ParameterShape{
        .rows = keys, .split = Split::kRows, .groups = a.kv_heads, .group_rows = a.head_dim});
  }
  if (a.sinks) {
    visit(ParameterShape{.rows = a.heads, .split = Split::kRows});
  }
}

template <class Visit>
void visit_mixer(const describe::Model& model, const describe::LatentAttention& a,
                 const Visit& visit) {
  const std::int64_t h = model.hidden;
  const std::int64_t queries = a.heads * (a.qk_nope_head_dim + a.qk_rope_head_dim);
  if (a.q_lora_rank > 0) {
    visit(ParameterShape{.rows = a.q_lora_rank, .columns = h});
    visit(ParameterShape{.rows = a.q_lora_rank, .norm = true});
    visit(ParameterShape{.rows = queries, .columns = a.q_lora_rank, .split = Split::kRows});
  } else {
    visit(ParameterShape{.rows = queries, .columns = h, .split = Split::kRows});
  }
  visit(ParameterShape{.rows = a.kv_lora_rank + a.qk_rope_head_dim, .columns = h});
  visit(ParameterShape{.rows = a.kv_lora_rank, .norm = true});
  visit(ParameterShape{.rows = a.heads * (a.qk_nope_head_dim + a.v_head_dim),
                       .columns = a.kv_lora_rank,
                       .split = Split::kRows});
  visit(ParameterShape{.rows = h, .columns = a.heads * a.v_head_dim, .split = Split::kColumns});
  if (a.indexer.heads > 0) {
    visit(ParameterShape{.rows = a.indexer.heads * a.indexer.head_dim,
                         .columns = a.q_lora_rank > 0 ? a.q_lora_rank : h});
    visit(ParameterShape{.rows = a.indexer.head_dim, .columns = h});
    visit(ParameterShape{.rows = a.indexer.head_dim, .count = 2, .norm = true});
    visit(ParameterShape{.rows = a.indexer.heads, .columns = h});
  }
}

template <class Visit>
void visit_mixer(const describe::Model& model, const describe::Mamba2& m, const Visit& visit) {
  const std::int64_t h = model.hidden;
  const std::int64_t channels = m.inner() + 2 * m.groups * m.state;
  const std::int64_t projected = m.inner() + channels + m.heads;
  visit(ParameterShape{.rows = projected,
                       .columns = h,
                       .split = Split::kRows,
                       .groups = m.groups,
                       .group_rows = 2 * m.state});
  visit(ParameterShape{.rows = channels,
                       .columns = m.conv_kernel,
                       .split = Split::kRows,
                       .groups = m.groups,
                       .group_rows = 2 * m.state});
  if (m.conv_bias) {
    visit(ParameterShape{
        .rows = channels, .split = Split::kRows, .groups = m.groups, .group_rows = 2 * m.state});
  }
  visit(ParameterShape{.rows = m.heads, .split = Split::kRows, .count = 3});
  visit(ParameterShape{.rows = m.inner(), .split = Split::kRows});
  visit(ParameterShape{.rows = h, .columns = m.inner(), .split = Split::kColumns});
  if (m.projection_bias) {
    visit(ParameterShape{
        .rows = projected, .split = Split::kRows, .groups = m.groups, .group_rows = 2 * m.state});
    visit(ParameterShape{.rows = h});
  }
}

template <class Visit>
void visit_mixer(const describe::Model& model, const describe::GatedDeltaNet& g,
                 const Visit& visit) {
  const std::int64_t h = model.hidden;
  const std::int64_t keys = g.key_heads * g.key_head_dim;
  const std::int64_t values = g.value_heads * g.value_head_dim;
  visit(ParameterShape{.rows = 2 * keys + 2 * values, .columns = h, .split = Split::kRows});
  visit(ParameterShape{.rows = 2 * g.value_heads, .columns = h, .split = Split::kRows});
  visit(ParameterShape{.rows = 2 * keys + values, .columns = g.conv_kernel, .split = Split::kRows});
  visit(ParameterShape{.rows = g.value_heads, .split = Split::kRows, .count = 2});
  visit(ParameterShape{.rows = g.value_head_dim, .norm = true});
  visit(ParameterShape{.rows = h, .columns = values, .split = Split::kColumns});
}

struct FfnSizes {
  std::int64_t input = 0;
  std::int64_t width = 0;
  bool gated = true;
  bool bias = false;
  std::int64_t experts = 0;
};

template <class Visit>
void visit_ffn_matrices(const FfnSizes& ffn, const Visit& visit) {
  const std::int64_t ups = ffn.gated ? 2 : 1;
  visit(ParameterShape{.rows = ffn.width,
                       .columns = ffn.input,
                       .split = Split::kRows,
                       .count = ups,
                       .experts = ffn.experts});
  visit(ParameterShape{
      .rows = ffn.input, .columns = ffn.width, .split = Split::kColumns, .experts = ffn.experts});
  if (ffn.bias) {
    visit(ParameterShape{
        .rows = ffn.width, .split = Split::kRows, .count = ups, .experts = ffn.experts});
    visit(ParameterShape{.rows = ffn.input, .experts = ffn.experts});
  }
}

template <class Visit>
void visit_ffn(const describe::Model& /*model*/, const std::monostate& /*none*/,
               const Visit& /*visit*/) {}

template <class Visit>
void visit_ffn(const describe::Model& model, const describe::DenseFfn& ffn, const Visit& visit) {
  visit_ffn_matrices({.input = model.hidden,
                      .width = ffn.width,
                      .gated = ffn.gated,
                      .bias = ffn.bias,
                      .experts = 0},
                     visit);
}

template <class Visit>
void visit_ffn(const describe::Model& model, const describe::MoeFfn& ffn, const Visit& visit) {
  const std::int64_t h = model.hidden;
  visit(ParameterShape{.rows = ffn.experts, .columns = h});
  const std::int64_t vectors = (ffn.router_bias ? 1 : 0) + (ffn.correction_bias ? 1 : 0);
  if (vectors > 0) {
    visit(ParameterShape{.rows = ffn.experts, .count = vectors});
  }
  if (ffn.latent_width > 0) {
    visit(ParameterShape{.rows = ffn.latent_width, .columns = h});
    visit(ParameterShape{.rows = h, .columns = ffn.latent_width});
  }
  if (ffn.shared_width > 0) {
    visit_ffn_matrices(
        {.input = h, .width = ffn.shared_width, .gated = ffn.gated, .bias = false, .experts = 0},
        visit);
    if (ffn.shared_gate) {
      visit(ParameterShape{.rows = 1, .columns = h});
    }
  }
  visit_ffn_matrices({.input = ffn.latent_width > 0 ? ffn.latent_width : h,
                      .width = ffn.width,
                      .gated = ffn.gated,
                      .bias = ffn.expert_bias,
                      .experts = ffn.experts},
                     visit);
}

}  // namespace internal

// Every parameter of one block.
template <class Visit>
void for_each_parameter(const describe::Model& model, const describe::Block& block,
                        const Visit& visit) {
  std::visit([&](const auto& mixer) { internal::visit_mixer(model, mixer, visit); }, block.mixer);
  std::visit([&](const auto& ffn) { internal::visit_ffn(model, ffn, visit); }, block.ffn);
  internal::visit_norm(model, model.hidden, block.norms, visit);
}

// What one depth of multi-token prediction has beside its block.
template <class Visit>
void for_each_mtp_parameter(const describe::Model& model, const Visit& visit) {
  constexpr std::int64_t kMtpNorms = 3;
  visit(ParameterShape{.rows = model.hidden, .columns = 2 * model.hidden, .split = Split::kRows});
  internal::visit_norm(model, model.hidden, kMtpNorms, visit);
}

// Token and position embeddings. `vocab` is padded as the framework does.
template <class Visit>
void for_each_embedding_parameter(const describe::Model& model, std::int64_t vocab,
                                  const Visit& visit) {
  visit(ParameterShape{.rows = vocab, .columns = model.hidden, .split = Split::kRows});
  if (model.learned_positions > 0) {
    visit(ParameterShape{.rows = model.learned_positions, .columns = model.hidden});
  }
  if (model.embedding_norm) {
    internal::visit_norm(model, model.hidden, 1, visit);
  }
}

// Final norm and head; `own`: the head is a matrix of its own (not tied, or on another stage).
template <class Visit>
void for_each_head_parameter(const describe::Model& model, std::int64_t vocab, bool own,
                             const Visit& visit) {
  if (model.final_norm) {
    internal::visit_norm(model, model.hidden, 1, visit);
  }
  if (own) {
    visit(ParameterShape{.rows = vocab, .columns = model.hidden, .split = Split::kRows});
  }
  if (model.head_bias) {
    visit(ParameterShape{.rows = vocab, .split = Split::kRows});
  }
}

}  // namespace sextant::workload
