#include "workload/traffic_scene.h"

namespace sextant::workload {

using describe::Framework;
using describe::Layout;
using describe::Overlap;
using describe::Precision;
using describe::Schedule;
using describe::Storage;

namespace {

TensorDialect tensor_dialect(Framework framework) {
  switch (framework) {
    case Framework::kTorchtitan:
      return TensorDialect::kDTensor;
    case Framework::kMaxtext:
      return TensorDialect::kXla;
    case Framework::kMegatronCore:
    case Framework::kMegatronDeepspeed:
    case Framework::kFsdp1:
    case Framework::kDeepspeed:
    case Framework::kAccelerate:
    case Framework::kNanotron:
    case Framework::kOther:
      break;
  }
  return TensorDialect::kMegatron;
}

DataDialect data_dialect(Framework framework) {
  switch (framework) {
    case Framework::kTorchtitan:
      return DataDialect::kFsdp2;
    case Framework::kMaxtext:
      return DataDialect::kXla;
    case Framework::kFsdp1:
    case Framework::kAccelerate:
      return DataDialect::kFlatFsdp;
    case Framework::kDeepspeed:
    case Framework::kMegatronDeepspeed:
      return DataDialect::kDeepspeed;
    case Framework::kMegatronCore:
    case Framework::kNanotron:
    case Framework::kOther:
      break;
  }
  return DataDialect::kMegatron;
}

Format activation_format(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
    case Precision::kTf32:
      return {"float32", 4};
    case Precision::kFp16:
      return {"float16", 2};
    case Precision::kBf16:
    case Precision::kFp8:
    case Precision::kMxfp8:
    case Precision::kNvfp4:
    case Precision::kInt8:
      break;
  }
  return {"bfloat16", 2};
}

// Megatron and nanotron gather parameters as they are stored; the others cast their shard to the
// compute format first. 8-bit parameters travel as such everywhere.
Format parameter_format(const Scene& at) {
  const bool as_stored = at.data == DataDialect::kMegatron || at.layout.parameters == Storage::kFp8;
  return as_stored ? format_of(at.layout.parameters) : at.activation;
}

void fill_hides(Scene& at) {
  const Layout& layout = at.layout;
  unsigned hidden = 0;
  for (const Overlap what : layout.overlap) {
    hidden |= 1U << static_cast<unsigned>(what);
  }
  const auto if_hidden = [hidden](Overlap what, Hides behind) {
    return (hidden >> static_cast<unsigned>(what) & 1U) != 0 ? behind : Hides::kNothing;
  };
  at.tensor_forward = if_hidden(Overlap::kTensorParallel, Hides::kGemm);
  // Megatron sends input gradients while the weight gradient is computed, asked to or not.
  // Source: Megatron-LM d98e8a64, core/tensor_parallel/layers.py,
  // LinearWithGradAccumulationAndAsyncCommunication.
  at.tensor_backward = at.tensor == TensorDialect::kMegatron ? Hides::kGemm : at.tensor_forward;
  at.gather = if_hidden(Overlap::kParamGather, Hides::kNextLayers);
  at.reduce = if_hidden(Overlap::kGradReduce, Hides::kNextLayers);
  at.pipeline = if_hidden(Overlap::kPipeline, Hides::kMicrobatch);
  at.expert = if_hidden(Overlap::kExpert, Hides::kMicrobatch);
  at.context = if_hidden(Overlap::kContext, Hides::kAttention);
  at.ring = Hides::kAttention;
  if (layout.schedule == Schedule::kDualPipe || layout.schedule == Schedule::kDualPipeV) {
    at.pipeline = Hides::kMicrobatch;
    at.expert = Hides::kMicrobatch;
  }
}

}  // namespace

bool counts_layers(const describe::RecomputePolicy& policy) {
  const bool first_ones = policy.granularity == describe::Recompute::kFull &&
                          policy.method == describe::RecomputeMethod::kBlock && policy.layers > 0;
  return first_ones || skips_layers(policy);
}

RecomputedLayers repeated_layers(const Scene& at, const StageView& stage, std::size_t block) {
  if (stage.exact != nullptr) {
    return recomputed_layers(at.layout.recompute, at.model, *stage.exact,
                             static_cast<std::int64_t>(block));
  }
  switch (at.layout.recompute.granularity) {
    case describe::Recompute::kFull:
      return {.full = stage.blocks[block], .selective = 0};
    case describe::Recompute::kSelective:
      return {.full = 0, .selective = stage.blocks[block]};
    case describe::Recompute::kNone:
      break;
  }
  return {};
}

Format format_of(Storage storage) {
  switch (storage) {
    case Storage::kFp32:
      return {"float32", 4};
    case Storage::kFp16:
      return {"float16", 2};
    case Storage::kFp8:
      return {"float8", 1};
    case Storage::kInt8:
      return {"int8", 1};
    case Storage::kNone:
    case Storage::kBf16:
      break;
  }
  return {"bfloat16", 2};
}

Scene scene_of(const describe::Job& job, const Layout& layout, const Shard& shard,
               const Routing& routing) {
  Scene at{.job = job, .model = job.model, .layout = layout, .shard = shard, .routing = routing};
  at.tensor = tensor_dialect(job.framework);
  at.data = data_dialect(job.framework);
  at.trains = job.workload != describe::Workload::kForward;
  at.weight_gradients = at.trains && job.workload != describe::Workload::kLora;
  at.replicated = shard.dp * shard.cp > 1 || shard.expert_dp > 1;
  // Under DualPipe two ranks run a stage, half of the microbatches each.
  at.microbatches = layout.schedule == Schedule::kDualPipe && shard.pp > 1
                        ? divided_up(shard.microbatches, 2)
                        : shard.microbatches;
  at.activation = activation_format(layout.precision);
  // XLA and DeepSpeed's ZeRO-3 reduce gradients in the format of the products, whatever they are
  // summed in. Source: DeepSpeed edaa7221, runtime/engine.py (communication_data_type).
  const bool of_products = at.data == DataDialect::kXla || fetches_buckets(at);
  at.gradient = of_products ? at.activation : format_of(layout.gradients);
  at.parameter = parameter_format(at);
  at.all_bytes = activation_bytes(at, shard.tokens, job.model.hidden);
  at.region_bytes = activation_bytes(at, shard.region_tokens, job.model.hidden);
  at.selective = recomputed_parts(layout.recompute, job.framework);
  fill_hides(at);
  return at;
}

}  // namespace sextant::workload
