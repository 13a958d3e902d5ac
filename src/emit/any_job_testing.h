// Random legal jobs for tests of the dialects. Only tests include this.
//
// Jobs are canonical: a field that means nothing under the rest of the layout has its default, and
// of two ways to say the same thing the shorter one is used ("full", not "full:uniform:1").
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <rapidcheck.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/cluster/load_cluster.h"
#include "describe/layout/framework_defaults.h"
#include "describe/layout/job.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/pipeline_split.h"

namespace sextant::emit {

using describe::Attention;
using describe::AttentionKernel;
using describe::Axis;
using describe::Block;
using describe::Cluster;
using describe::CpMethod;
using describe::default_optimizer;
using describe::DenseFfn;
using describe::Job;
using describe::kAttentionKernelWords;
using describe::kCpMethodWords;
using describe::kDispatcherWords;
using describe::kLaunchWords;
using describe::kLossKernelWords;
using describe::kOptimizerWords;
using describe::kOverlapWords;
using describe::kPrecisionWords;
using describe::kRecomputeMethodWords;
using describe::kRecomputeModuleWords;
using describe::kRecomputeWords;
using describe::kScheduleWords;
using describe::LatentAttention;
using describe::Layout;
using describe::Model;
using describe::MoeFfn;
using describe::OptimizerKind;
using describe::Overlap;
using describe::Precision;
using describe::QkNorm;
using describe::Recompute;
using describe::RecomputeMethod;
using describe::RecomputeModule;
using describe::RecomputePolicy;
using describe::Schedule;
using describe::Storage;
using describe::Zero;

// The layout keys in which two layouts differ, in the order of the alphabet.
inline std::vector<std::string> differing_keys(const describe::Layout& a,
                                               const describe::Layout& b) {
  std::map<std::string, std::set<std::string>> values;
  for (const describe::Layout* layout : {&a, &b}) {
    std::map<std::string, std::string> said;
    const std::string text = describe::to_text(*layout);
    for (const std::string_view part : split(text, ',')) {
      const std::size_t equals = part.find('=');
      if (equals != std::string_view::npos) {
        said.emplace(part.substr(0, equals), part.substr(equals + 1));
      }
    }
    for (const describe::LayoutKey& key : describe::layout_keys()) {
      const auto found = said.find(std::string(key.name));
      values[std::string(key.name)].insert(found == said.end() ? "plain" : found->second);
    }
  }
  std::vector<std::string> keys;
  for (const auto& [key, seen] : values) {
    if (seen.size() > 1) {
      keys.push_back(key);
    }
  }
  if (keys.empty() && a != b) {
    keys.emplace_back("a field that the text does not show");
  }
  return keys;
}

namespace any {

template <typename T>
T one_of(std::vector<T> values) {
  return *rc::gen::elementOf(std::move(values));
}

// True once in `times`.
inline bool once_in(int times) {
  return *rc::gen::resize(100, rc::gen::inRange(0, times)) == 0;
}

template <typename E, std::size_t N>
std::vector<E> some_of(const std::array<describe::Word<E>, N>& words) {
  std::set<E> chosen;
  for (const auto& [value, name] : words) {
    if (once_in(3)) {
      chosen.insert(value);
    }
  }
  return {chosen.begin(), chosen.end()};
}

template <typename E, std::size_t N>
E any_word(const std::array<describe::Word<E>, N>& words) {
  std::vector<E> values;
  for (const auto& [value, name] : words) {
    values.push_back(value);
  }
  return one_of(values);
}

enum class Shape { kDense, kExperts, kLatent };

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

inline void choose_axes(describe::Layout& layout) {
  layout.tp = one_of<std::int64_t>({1, 1, 2, 4, 8});
  layout.sp = layout.tp > 1 && !once_in(3);
  layout.cp = one_of<std::int64_t>({1, 1, 1, 2, 4});
  // Every tensor-parallel rank must hold heads for the whole all-to-all group.
  constexpr std::int64_t kHeads = 16;
  const std::int64_t heads = kHeads / layout.tp;
  if (layout.cp > 1) {
    layout.cp_method = any_word(kCpMethodWords);
    if (layout.cp_method == CpMethod::kAllToAll && heads % layout.cp != 0) {
      layout.cp_method = CpMethod::kP2pRing;
    }
    if (layout.cp_method == CpMethod::kAllToAllP2p) {
      layout.cp_inner = one_of<std::int64_t>({0, 2});
    }
  }
  layout.pp = one_of<std::int64_t>({1, 1, 2, 3, 4, 8});
  if (layout.pp > 1) {
    layout.schedule = once_in(3) ? any_word(kScheduleWords)
                                 : one_of<Schedule>({Schedule::k1f1b, Schedule::kInterleaved1f1b});
    switch (layout.schedule) {
      case Schedule::kGpipe:
      case Schedule::k1f1b:
      case Schedule::kDualPipe:
        break;
      case Schedule::kZbv:
      case Schedule::kDualPipeV:
        layout.vpp = 2;
        break;
      case Schedule::kInterleaved1f1b:
      case Schedule::kLoopedBfs:
      case Schedule::kInterleavedZeroBubble:
        layout.vpp = one_of<std::int64_t>({2, 3, 5});
        break;
    }
  }
}

// Chooses how layers are dealt, and with it how many there are.
inline std::int64_t choose_split(describe::Layout& layout) {
  const std::int64_t stages = layout.stages();
  const std::int64_t each = one_of<std::int64_t>({2, 3, 4});
  std::int64_t layers = stages * each;
  if (stages == 1) {
    return layers;
  }
  switch (one_of<int>({0, 0, 0, 1, 2, 3, 4, 5})) {
    case 1:
      layout.split.count_embedding = true;
      layout.split.count_loss = true;
      return layers - 2;
    case 2:
      layout.split.count_loss = true;
      return layers - 1;
    case 3:
      layout.split.count_embedding = true;
      return layers - 1;
    case 4: {  // uneven at the ends
      layout.split.layers_per_stage.assign(static_cast<std::size_t>(stages), each);
      layout.split.layers_per_stage.front() = one_of<std::int64_t>({0, 1, each});
      layout.split.layers_per_stage.back() = each + one_of<std::int64_t>({1, 2});
      break;
    }
    case 5: {  // uneven anywhere
      for (std::int64_t stage = 0; stage < stages; ++stage) {
        layout.split.layers_per_stage.push_back(one_of<std::int64_t>({1, 2, 3}));
      }
      layout.split.layers_per_stage.back() = 5;
      break;
    }
    default:
      return layers;
  }
  layers = 0;
  for (const std::int64_t stage : layout.split.layers_per_stage) {
    layers += stage;
  }
  return layers;
}

inline void choose_sharding(describe::Layout& layout) {
  constexpr std::int64_t kNode = 8;
  const std::int64_t model_ranks = layout.tp * layout.cp * layout.pp;
  layout.dp = one_of<std::int64_t>({1, 2, 4, 8, 16});
  while (layout.dp * model_ranks > kNode && layout.dp * model_ranks % kNode != 0) {
    layout.dp *= 2;
  }
  layout.zero = one_of<Zero>({Zero::kNone, Zero::kOptimizer, Zero::kGradients, Zero::kParameters});
  const std::int64_t ranks = layout.dp * layout.cp;
  if (layout.zero != Zero::kNone && once_in(3)) {
    const std::int64_t group = one_of<std::int64_t>({2, 4, 8});
    layout.zero_group = group < ranks ? group : 0;
  }
  layout.reshard_after_forward = layout.zero != Zero::kParameters || !once_in(3);
}

inline void choose_experts(describe::Layout& layout) {
  const std::int64_t ranks = layout.tp * layout.cp * layout.dp;
  layout.ep = one_of<std::int64_t>({1, 2, 4, 8, 16});
  layout.etp = one_of<std::int64_t>({1, 1, 2, 4});
  if (ranks % (layout.ep * layout.etp) != 0) {
    layout.etp = 1;
  }
  while (ranks % layout.ep != 0) {
    layout.ep /= 2;
  }
  layout.dispatcher = any_word(kDispatcherWords);
}

inline describe::RecomputePolicy any_recompute(Shape shape) {
  RecomputePolicy policy;
  policy.granularity = any_word(kRecomputeWords);
  if (policy.granularity == Recompute::kFull) {
    policy.layers = one_of<std::int64_t>({0, 0, 1, 2});
    if (policy.layers > 0) {
      policy.method = any_word(kRecomputeMethodWords);
    }
    if (policy.method == RecomputeMethod::kUniform && policy.layers == 1) {
      policy.layers = 0;
    }
  }
  if (policy.granularity == Recompute::kSelective) {
    if (!once_in(3)) {
      policy.modules = some_of(kRecomputeModuleWords);
    }
    std::erase_if(policy.modules, [&](RecomputeModule module) {
      return (shape == Shape::kDense &&
              (module == RecomputeModule::kMoe || module == RecomputeModule::kMoeActivation ||
               module == RecomputeModule::kSharedExperts)) ||
             (shape != Shape::kLatent && module == RecomputeModule::kMlaUpProjection);
    });
    if (policy.modules.empty()) {
      policy.modules = {RecomputeModule::kCoreAttention};
    }
  }
  return policy;
}

inline void choose_formats(describe::Layout& layout) {
  layout.precision = once_in(2) ? Precision::kBf16 : any_word(kPrecisionWords);
  layout.parameters =
      once_in(2) ? Storage::kBf16
                 : one_of<Storage>({Storage::kFp32, Storage::kBf16, Storage::kFp16, Storage::kFp8});
  layout.gradients =
      one_of<Storage>({Storage::kFp32, Storage::kFp32, Storage::kBf16, Storage::kFp16});
  layout.optimizer =
      default_optimizer(once_in(2) ? OptimizerKind::kAdam : any_word(kOptimizerWords));
  if (layout.optimizer.kind == OptimizerKind::kAdam && once_in(2)) {
    const std::vector<Storage> moments{Storage::kFp32, Storage::kBf16, Storage::kFp16,
                                       Storage::kFp8};
    layout.optimizer.first_moment = one_of(moments);
    layout.optimizer.second_moment = one_of(moments);
    layout.optimizer.master = one_of<Storage>({Storage::kFp32, Storage::kFp16, Storage::kNone});
  }
  if (layout.parameters == Storage::kFp32) {
    layout.optimizer.master = Storage::kNone;  // the parameters are their own master
  }
  layout.optimizer.offload = once_in(6);
}

inline void choose_overlap(describe::Layout& layout) {
  layout.overlap = some_of(kOverlapWords);
  if (once_in(2)) {
    layout.overlap.insert(layout.overlap.end(), {Overlap::kGradReduce, Overlap::kParamGather});
    std::sort(layout.overlap.begin(), layout.overlap.end());
    layout.overlap.erase(std::unique(layout.overlap.begin(), layout.overlap.end()),
                         layout.overlap.end());
  }
  const bool replicas = layout.dp * layout.cp > 1;
  std::erase_if(layout.overlap, [&](Overlap what) {
    switch (what) {
      case Overlap::kGradReduce:
        return !replicas;
      case Overlap::kParamGather:
        return !replicas || layout.zero == Zero::kNone;
      case Overlap::kTensorParallel:
        return layout.tp == 1;
      case Overlap::kPipeline:
        return layout.pp == 1;
      case Overlap::kExpert:
        return layout.ep == 1;
      case Overlap::kContext:
        return layout.cp == 1;
    }
    return true;
  });
}

inline void choose_order(describe::Layout& layout) {
  using describe::Axis;
  if (once_in(6)) {
    layout.order = {Axis::kTp, Axis::kCp, Axis::kEp, Axis::kPp, Axis::kDp};
  } else if (once_in(8)) {
    std::vector<Axis> left(layout.order.begin(), layout.order.end());
    for (Axis& axis : layout.order) {
      axis = one_of(left);
      std::erase(left, axis);
    }
  }
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
