// Random legal jobs for tests of the dialects. Only tests include this.
//
// Jobs are canonical: a field that means nothing under the rest of the layout has its default, and
// of two ways to say the same thing the shorter one is used ("full", not "full:uniform:1").
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "describe/cluster/load_cluster.h"
#include "describe/layout/job.h"
#include "emit/any_layout_testing.h"

namespace sextant::emit {

using describe::Attention;
using describe::AttentionKernel;
using describe::Block;
using describe::Cluster;
using describe::DenseFfn;
using describe::Job;
using describe::kAttentionKernelWords;
using describe::kLaunchWords;
using describe::kLossKernelWords;
using describe::LatentAttention;
using describe::Layout;
using describe::Model;
using describe::MoeFfn;
using describe::QkNorm;

namespace any {

// 16 heads, so that every tp and cp below divides them.
inline describe::Model any_model(Shape shape, std::int64_t layers, std::int64_t positions) {
  constexpr std::int64_t kHeads = 16;
  Model model;
  model.name = "any";
  model.family = "llama";
  model.hidden = one_of<std::int64_t>({512, 1024});
  model.vocab = one_of<std::int64_t>({32000, 50257, 128256});
  model.max_positions = positions * one_of<std::int64_t>({1, 4});
  model.tied_head = once_in(4);
  Attention attention;
  attention.heads = kHeads;
  attention.kv_heads = one_of<std::int64_t>({1, 4, 16});
  attention.head_dim = one_of<std::int64_t>({32, 64, 128});
  attention.qkv_bias = once_in(4);
  attention.qk_norm = once_in(4) ? QkNorm::kPerHead : QkNorm::kNone;
  const Block dense{.mixer = attention, .ffn = DenseFfn{.width = 2048, .gated = !once_in(4)}};
  model.blocks = {dense};
  model.layers.assign(static_cast<std::size_t>(layers), 0);
  if (shape == Shape::kDense) {
    return model;
  }
  MoeFfn moe;
  moe.experts = 16;
  moe.topk = one_of<std::int64_t>({1, 2, 4});
  moe.width = 512;
  moe.shared_width = one_of<std::int64_t>({0, 512});
  moe.correction_bias = once_in(3);
  moe.gated = std::get<DenseFfn>(dense.ffn).gated;
  if (shape == Shape::kLatent) {
    const LatentAttention latent{.heads = kHeads,
                                 .q_lora_rank = one_of<std::int64_t>({0, 384}),
                                 .kv_lora_rank = 128,
                                 .qk_nope_head_dim = 64,
                                 .qk_rope_head_dim = 32,
                                 .v_head_dim = 64};
    model.blocks[0].mixer = latent;
    model.family = "deepseek_v3";
    model.mtp_layers = once_in(3) ? 1 : 0;
  }
  model.blocks.push_back({.mixer = model.blocks[0].mixer, .ffn = moe});
  const std::int64_t leading = std::min<std::int64_t>(layers - 1, one_of<std::int64_t>({0, 0, 1}));
  std::fill(model.layers.begin() + leading, model.layers.end(), 1);
  model.mtp_block = 1;
  if (leading == 0) {
    model.blocks.erase(model.blocks.begin());
    std::fill(model.layers.begin(), model.layers.end(), 0);
    model.mtp_block = 0;
  }
  return model;
}

// The inner all-to-all group that cp_inner=0 stands for: as many ranks as a rank has kv heads.
inline std::int64_t usual_cp_inner(const describe::Job& job) {
  const describe::Mixer& mixer = job.model.blocks.front().mixer;
  const auto* attention = std::get_if<describe::Attention>(&mixer);
  const std::int64_t heads =
      attention != nullptr ? attention->kv_heads : std::get<describe::LatentAttention>(mixer).heads;
  return std::gcd(std::max<std::int64_t>(heads / job.layout.tp, 1), job.layout.cp);
}

}  // namespace any

// A legal job (describe::check_rules finds nothing) on B200 nodes of 8, with every field of the
// layout varied over what at least one framework can say, and dp a number. Call inside a rapidcheck
// property.
inline describe::Job any_job(describe::Framework framework) {
  static const Cluster kCluster = *describe::load_cluster("8xb200-sxm", describe::DataStore{});
  Job job;
  job.framework = framework;
  job.cluster = kCluster;
  Layout& layout = job.layout;
  const auto shape =
      any::one_of<any::Shape>({any::Shape::kDense, any::Shape::kExperts, any::Shape::kLatent});
  any::choose_axes(layout);
  const std::int64_t layers = any::choose_split(layout);
  any::choose_sharding(layout);
  if (shape != any::Shape::kDense) {
    any::choose_experts(layout);
  }
  layout.mbs = any::one_of<std::int64_t>({1, 1, 2, 4});
  layout.recompute = any::any_recompute(shape);
  layout.activation_offload = any::once_in(6);
  any::choose_formats(layout);
  layout.attention =
      any::once_in(2) ? AttentionKernel::kFlash : any::any_word(kAttentionKernelWords);
  layout.loss = any::any_word(kLossKernelWords);
  layout.launch = any::any_word(kLaunchWords);
  any::choose_overlap(layout);
  any::choose_order(layout);
  job.sequences.length = any::one_of<std::int64_t>({1024, 4096, 8192});
  job.model = any::any_model(shape, layers, job.sequences.length);
  if (layout.cp_inner == any::usual_cp_inner(job)) {
    layout.cp_inner = 0;
  }
  job.cluster.devices = layout.tp * layout.cp * layout.pp * layout.dp;
  job.global_batch = layout.dp * layout.mbs * layout.pp * any::one_of<std::int64_t>({1, 2, 4});
  return job;
}

}  // namespace sextant::emit
