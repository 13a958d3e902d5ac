// Random layouts for tests of the dialects: any field at any value that at least one framework can
// say. Only tests include this.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <rapidcheck.h>

#include "describe/layout/framework_defaults.h"
#include "describe/layout/layout.h"

namespace sextant::emit {

using describe::Axis;
using describe::CpMethod;
using describe::default_optimizer;
using describe::kCpMethodWords;
using describe::kDispatcherWords;
using describe::kOptimizerWords;
using describe::kOverlapWords;
using describe::kPrecisionWords;
using describe::kRecomputeMethodWords;
using describe::kRecomputeModuleWords;
using describe::kRecomputeWords;
using describe::kScheduleWords;
using describe::OptimizerKind;
using describe::Overlap;
using describe::Precision;
using describe::Recompute;
using describe::RecomputeMethod;
using describe::RecomputeModule;
using describe::RecomputePolicy;
using describe::Schedule;
using describe::Storage;
using describe::Zero;

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

// What the layout must know of the model.
enum class Shape { kDense, kExperts, kLatent };

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

}  // namespace any
}  // namespace sextant::emit
