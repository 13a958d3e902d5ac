#include "describe/layout/framework_defaults.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "describe/cluster/torus.h"

namespace sextant::describe {
namespace {

// Collects what was filled in, and asks whether the user has spoken first.
class Filler {
 public:
  // `whose`: who sets these values, as the user should read it.
  Filler(std::span<const std::string> given, std::string_view whose)
      : given_(given), whose_(whose) {}

  template <typename T>
  void fill(T& target, T value, std::string_view key, std::string_view text) {
    if (std::find(given_.begin(), given_.end(), key) != given_.end() || target == value) {
      return;
    }
    target = std::move(value);
    filled_.push_back({std::string(key), std::string(text), fmt::format("{} default", whose_), {}});
  }

  Assumptions filled() && { return std::move(filled_); }

 private:
  std::span<const std::string> given_;
  std::string_view whose_;
  Assumptions filled_;
};

// Whose word stands in for the user's. Megatron's own flags switch everything off; what people run,
// and what is filled in here, are the recipes of Megatron-Bridge.
std::string_view defaults_of(Framework framework) {
  return framework == Framework::kMegatronCore ? "Megatron-Bridge recipes'"
                                               : word_of<Framework>(kFrameworkWords, framework);
}

void fill_schedule(Layout& layout, Filler& filler) {
  const Schedule usual = default_schedule(layout.vpp);
  filler.fill(layout.schedule, usual, "schedule", word_of<Schedule>(kScheduleWords, usual));
}

// Megatron Core 0.20 performance recipes: sequence parallelism with TP, the distributed optimizer
// with its overlaps. Source: Megatron-Bridge 067f987 performance recipes, WorkloadBaseConfig and
// ddp defaults.
void fill_megatron(Layout& layout, Filler& filler) {
  if (layout.tp > 1) {
    filler.fill(layout.sp, true, "sp", "1");
  }
  filler.fill(layout.zero, Zero::kOptimizer, "zero", "1");
  std::vector<Overlap> overlap{Overlap::kGradReduce, Overlap::kParamGather};
  // overlap_p2p_communication is on wherever chunks are interleaved.
  const bool interleaved = layout.pp > 1 && layout.vpp > 1;
  if (interleaved) {
    overlap.push_back(Overlap::kPipeline);
  }
  filler.fill(layout.overlap, overlap, "overlap",
              interleaved ? "grad_reduce+param_gather+p2p" : "grad_reduce+param_gather");
  filler.fill(layout.loss, LossKernel::kFused, "loss", "fused");
}

// Parameters sharded and kept in fp32, gathered in the compute format; the optimizer updates them
// in place.
void fill_sharded(Layout& layout, Filler& filler) {
  filler.fill(layout.zero, Zero::kParameters, "zero", "3");
  filler.fill(layout.parameters, Storage::kFp32, "parameters", "fp32");
  Optimizer in_place = layout.optimizer;
  in_place.master = Storage::kNone;
  filler.fill(layout.optimizer, in_place, "optimizer", "adam:none:fp32:fp32");
}

// PyTorch FSDP (accelerate's fsdp_config, llm-foundry): FULL_SHARD, gathers and reductions
// prefetched.
void fill_fsdp(Layout& layout, Filler& filler) {
  fill_sharded(layout, filler);
  filler.fill(layout.overlap, {Overlap::kGradReduce, Overlap::kParamGather}, "overlap",
              "grad_reduce+param_gather");
}

// torchtitan b5bcd76 (2026-08): FSDP2 always, sequence parallelism with TP.
void fill_torchtitan(Layout& layout, Filler& filler) {
  if (layout.tp > 1) {
    filler.fill(layout.sp, true, "sp", "1");
  }
  fill_fsdp(layout, filler);
}

// MaxText e591f30 (2026-08): FSDP over the rest of the mesh, "full" remat, compiled; XLA's
// latency-hiding scheduler moves gathers and reductions behind compute.
void fill_maxtext(Layout& layout, Filler& filler) {
  fill_fsdp(layout, filler);
  filler.fill(layout.recompute, RecomputePolicy{.granularity = Recompute::kFull, .modules = {}},
              "recompute", "full");
  filler.fill(layout.launch, Launch::kCompiled, "compile", "1");
  filler.fill(layout.loss, LossKernel::kInPlace, "loss", "in-place");
}

}  // namespace

Optimizer default_optimizer(OptimizerKind kind) {
  Optimizer optimizer;
  optimizer.kind = kind;
  switch (kind) {
    case OptimizerKind::kAdam:
      break;
    case OptimizerKind::kAdam8bit:
      optimizer.first_moment = Storage::kInt8;
      optimizer.second_moment = Storage::kInt8;
      break;
    case OptimizerKind::kMuon:
      optimizer.second_moment = Storage::kNone;
      break;
    case OptimizerKind::kSgd:
    case OptimizerKind::kAdafactor:
      optimizer.first_moment = Storage::kNone;
      optimizer.second_moment = Storage::kNone;
      break;
  }
  return optimizer;
}

Schedule default_schedule(std::int64_t vpp) {
  return vpp > 1 ? Schedule::kInterleaved1f1b : Schedule::k1f1b;
}

Framework default_framework(const Cluster& cluster) {
  if (cluster.device.vendor == Vendor::kCpu) {
    return Framework::kOther;
  }
  return is_torus(cluster) ? Framework::kMaxtext : Framework::kMegatronCore;
}

Precision default_precision(const Device& device) {
  const auto& bf16 = device.peak(DType::kBf16);
  const auto& fp32 = device.peak(DType::kFp32);
  if (bf16 && (!fp32 || bf16->value > fp32->value)) {
    return Precision::kBf16;
  }
  const auto& fp16 = device.peak(DType::kFp16);
  if (fp16 && (!fp32 || fp16->value > fp32->value)) {
    return Precision::kFp16;
  }
  return fp32 ? Precision::kFp32 : Precision::kBf16;
}

Assumptions fill_device_defaults(Layout& layout, std::span<const std::string> given,
                                 const Device& device) {
  const auto is_given = [&given](std::string_view key) {
    return std::find(given.begin(), given.end(), key) != given.end();
  };
  const Precision usual = default_precision(device);
  if (is_given("precision") || usual == Precision::kBf16) {
    return {};
  }
  const Storage kept = usual == Precision::kFp16 ? Storage::kFp16 : Storage::kFp32;
  Filler filler(given, device.name);
  filler.fill(layout.precision, usual, "precision", word_of<Precision>(kPrecisionWords, usual));
  if (layout.gradients == Storage::kBf16) {
    filler.fill(layout.gradients, kept, "gradients", word_of<Storage>(kStorageWords, kept));
  }
  if (layout.parameters == Storage::kBf16) {
    filler.fill(layout.parameters, kept, "parameters", word_of<Storage>(kStorageWords, kept));
    Optimizer in_place = layout.optimizer;
    in_place.master = Storage::kNone;
    if (kept == Storage::kFp32 && layout.optimizer == default_optimizer(OptimizerKind::kAdam)) {
      filler.fill(layout.optimizer, in_place, "optimizer", "adam:none:fp32:fp32");
    }
  }
  return std::move(filler).filled();
}

Assumptions fill_defaults(Layout& layout, std::span<const std::string> given, Framework framework) {
  Filler filler(given, defaults_of(framework));
  fill_schedule(layout, filler);
  switch (framework) {
    case Framework::kMegatronCore:
      fill_megatron(layout, filler);
      break;
    case Framework::kTorchtitan:
      fill_torchtitan(layout, filler);
      break;
    case Framework::kMaxtext:
      fill_maxtext(layout, filler);
      break;
    case Framework::kFsdp1:
    case Framework::kAccelerate:
      fill_fsdp(layout, filler);
      break;
    case Framework::kMegatronDeepspeed:
      // --zero-stage of its arguments.py.
      filler.fill(layout.zero, Zero::kOptimizer, "zero", "1");
      break;
    case Framework::kOther:
      // PyTorch gives a gradient its parameter's format.
      filler.fill(layout.gradients, layout.parameters, "gradients",
                  word_of<Storage>(kStorageWords, layout.parameters));
      break;
    case Framework::kDeepspeed:
    case Framework::kNanotron:
      break;
  }
  return std::move(filler).filled();
}

}  // namespace sextant::describe
