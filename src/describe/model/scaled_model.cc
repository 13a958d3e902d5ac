#include "describe/model/scaled_model.h"

#include <algorithm>
#include <cmath>

#include "base/integers.h"

namespace sextant::describe {
namespace {

// Widths that hardware likes: every catalogue model's widths are multiples of this.
constexpr std::int64_t kStep = 64;

std::int64_t scaled_count(std::int64_t count, double by) {
  return count == 0 ? 0 : std::max<std::int64_t>(std::llround(as_double(count) * by), 1);
}

std::int64_t scaled_width(std::int64_t width, double by) {
  return width == 0 ? 0 : scaled_count(width, by / as_double(kStep)) * kStep;
}

// Groups of a number of heads: as many heads a group as before, or the nearest fewer groups that
// divide them.
std::int64_t scaled_groups(std::int64_t groups, std::int64_t heads, std::int64_t new_heads) {
  if (groups == 0 || heads == 0) {
    return groups;
  }
  std::int64_t wanted = std::clamp<std::int64_t>(
      std::llround(as_double(new_heads) * as_double(groups) / as_double(heads)), 1, new_heads);
  while (new_heads % wanted != 0) {
    wanted -= 1;
  }
  return wanted;
}

void scale(Attention& attention, double by) {
  const std::int64_t heads = scaled_count(attention.heads, by);
  attention.kv_heads = scaled_groups(attention.kv_heads, attention.heads, heads);
  attention.heads = heads;
}

void scale(LatentAttention& attention, double by) {
  attention.heads = scaled_count(attention.heads, by);
  attention.q_lora_rank = scaled_width(attention.q_lora_rank, by);
  attention.kv_lora_rank = scaled_width(attention.kv_lora_rank, by);
  attention.indexer.heads = scaled_count(attention.indexer.heads, by);
}

void scale(Mamba2& mamba, double by) {
  const std::int64_t heads = scaled_count(mamba.heads, by);
  mamba.groups = scaled_groups(mamba.groups, mamba.heads, heads);
  mamba.heads = heads;
}

void scale(GatedDeltaNet& delta, double by) {
  const std::int64_t values = scaled_count(delta.value_heads, by);
  delta.key_heads = scaled_groups(delta.key_heads, delta.value_heads, values);
  delta.value_heads = values;
}

void scale(DenseFfn& dense, double by) {
  dense.width = scaled_width(dense.width, by);
}

void scale(MoeFfn& moe, double by) {
  moe.width = scaled_width(moe.width, by);
  moe.shared_width = scaled_width(moe.shared_width, by);
  moe.latent_width = scaled_width(moe.latent_width, by);
}

void scale(std::monostate& /*none*/, double /*by*/) {}

}  // namespace

Model with_hidden(Model model, std::int64_t hidden) {
  const double by = as_double(hidden) / as_double(std::max<std::int64_t>(model.hidden, 1));
  model.hidden = hidden;
  const auto part = [by](auto& of_block) { scale(of_block, by); };
  for (Block& block : model.blocks) {
    std::visit(part, block.mixer);
    std::visit(part, block.ffn);
  }
  return model;
}

}  // namespace sextant::describe
