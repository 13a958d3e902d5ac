#include "cost/compute/rank_time.h"

#include <algorithm>

#include "cost/compute/operator_time.h"
#include "workload/operators.h"
#include "workload/parameter_shapes.h"

namespace sextant::cost {
namespace {

using describe::Framework;
using describe::HostFacts;
using describe::Job;
using describe::Launch;
using describe::Layout;
using workload::Operator;
using workload::OpKind;
using workload::Pass;
using workload::Shard;
using workload::Stage;

// What the operators of a phase add up to.
struct PhaseWork {
  Seconds device;    // at burst rates
  Seconds products;  // of that, products
  Seconds limited;   // that they take longer at the power limit
  double kernels = 0.0;
  double calls = 0.0;  // of products
  [[nodiscard]] Seconds at_duty(double duty) const { return device + limited * duty; }
};

struct Work {
  PhaseWork forward;
  PhaseWork recompute;
  PhaseWork backward;
};

bool is_product(const Operator& op) {
  return op.kind == OpKind::kGemm || op.kind == OpKind::kGroupedGemm;
}

// The power controller sees a step, not a kernel: rates as if no kernel were long, and what the
// limit adds apart.
DeviceModel at_burst(const DeviceModel& device) {
  constexpr Seconds kNever = 1e9_s;
  DeviceModel burst = device;
  burst.power_ramp = kNever;
  return burst;
}

Work add_up(std::span<const Operator> operators, const DeviceModel& limited) {
  const DeviceModel device = at_burst(limited);
  Work work;
  for (const Operator& op : operators) {
    const auto count = static_cast<double>(op.count);
    PhaseWork& phase = op.pass == Pass::kForward     ? work.forward
                       : op.pass == Pass::kRecompute ? work.recompute
                                                     : work.backward;
    const OperatorCost cost = operator_time(op, device);
    phase.device += cost.total() * count;
    phase.kernels += op.kernels * count;
    if (is_product(op)) {
      const Seconds busy = (cost.compute + cost.output) * count;
      phase.products += busy;
      phase.limited += busy * device.rate(op.dtype).slowdown;
      phase.calls += op.pass != Pass::kWeightGradient ? count : 0.0;
    }
  }
  return work;
}

bool shards_with_dtensor(const Job& job, const Layout& layout) {
  return layout.tp > 1 &&
         (job.framework == Framework::kTorchtitan || job.framework == Framework::kAccelerate);
}

// XLA hands the device a whole program, which needs the host as little as a CUDA graph.
Launch launch_of(const Job& job, const Layout& layout) {
  return job.framework == Framework::kMaxtext ? Launch::kCudaGraph : layout.launch;
}

// Issuing a forward of `layers` layers.
Seconds forward_host(const PhaseWork& work, double layers, const Job& job, const Layout& layout,
                     const HostFacts& host) {
  const bool dtensor = shards_with_dtensor(job, layout);
  switch (launch_of(job, layout)) {
    case Launch::kCudaGraph:
      return host.graph_kernel.value * work.kernels;
    case Launch::kCompiled:
      return host.compiled_kernel.value * work.kernels + host.compiled_step.value;
    case Launch::kEager:
      break;
  }
  return host.forward_kernel.value * work.kernels + host.layer.value * layers +
         (dtensor ? host.dtensor_forward.value * work.calls : Seconds()) +
         (dtensor && layout.sp ? host.dtensor_sequence.value * layers : Seconds());
}

Seconds backward_host(const PhaseWork& work, const Job& job, const Layout& layout,
                      const HostFacts& host) {
  const bool dtensor = shards_with_dtensor(job, layout);
  switch (launch_of(job, layout)) {
    case Launch::kCudaGraph:
      return host.graph_kernel.value * work.kernels;
    case Launch::kCompiled:
      return host.compiled_kernel.value * work.kernels + host.compiled_step.value;
    case Launch::kEager:
      break;
  }
  return host.backward_kernel.value * work.kernels +
         (dtensor ? host.dtensor_backward.value * work.calls : Seconds());
}

double parameter_tensors(const Job& job, const Stage& stage, const Shard& shard) {
  double tensors = 0.0;
  double each = 1.0;
  const auto count = [&](const workload::ParameterShape& shape) {
    tensors += each * static_cast<double>(shape.count);
  };
  for (std::size_t i = 0; i < stage.blocks.size(); ++i) {
    each = static_cast<double>(stage.blocks[i]);
    if (stage.blocks[i] > 0) {
      workload::for_each_parameter(job.model, job.model.blocks[i], count);
    }
  }
  each = 1.0;
  if (stage.embedding) {
    workload::for_each_embedding_parameter(job.model, shard.vocab, count);
  }
  if (stage.head) {
    workload::for_each_head_parameter(job.model, shard.vocab, !job.model.tied_head, count);
  }
  return tensors;
}

// PyTorch's foreach implementation: a kernel an operation over all tensors, which reads and writes
// twenty numbers for each parameter where the fused one moves seven. One tensor at a time does the
// same. Source: torch/optim/adamw.py.
constexpr double kForeachBytes = 20.0 / 7.0;

PhaseTime update_time(const Job& job, const Layout& layout, const Stage& stage, const Shard& shard,
                      const RankSetting& setting) {
  PhaseTime phase;
  const double passes = setting.update == UpdateLoop::kFused ? 1.0 : kForeachBytes;
  for (const Operator& op : workload::update_operators(job, layout, {&stage, 1}, shard)) {
    if (op.kind == OpKind::kReduceNorm) {
      continue;  // clipping is the training loop's choice; the tables do not clip
    }
    const Seconds once = operator_time(op, setting.device).total();
    phase.device +=
        once * (static_cast<double>(op.count) * (op.kind == OpKind::kOptimizer ? passes : 1.0));
    phase.kernels += op.kernels * static_cast<double>(op.count);
  }
  const HostFacts& host = setting.host;
  const Seconds tensor = setting.update == UpdateLoop::kFused     ? host.fused_tensor.value
                         : setting.update == UpdateLoop::kForeach ? host.foreach_tensor.value
                                                                  : host.loop_tensor.value;
  phase.host = tensor * parameter_tensors(job, stage, shard);
  return phase;
}

}  // namespace

bool gathers_units(const Job& job, const Layout& layout, const Shard& shard) {
  return job.framework != Framework::kMaxtext && shard.zero_shards > 1 &&
         (layout.zero == describe::Zero::kParameters || layout.zero == describe::Zero::kGradients);
}

Seconds device_time(std::span<const Operator> operators, const DeviceModel& device) {
  Seconds time;
  for (const Operator& op : operators) {
    time += operator_time(op, device).total() * static_cast<double>(op.count);
  }
  return time;
}

RankTime rank_time(const Job& job, const Layout& layout, const Stage& stage, const Shard& shard,
                   const RankSetting& setting) {
  const Work work = add_up(workload::stage_operators(job, layout, stage, shard), setting.device);
  const Seconds busy = work.forward.device + work.backward.device + work.recompute.device;
  const Seconds products = work.forward.products + work.backward.products + work.recompute.products;
  const double duty = setting.device.duty.share(busy > Seconds() ? products / busy : 0.0);
  const auto layers = static_cast<double>(stage.layers);
  const HostFacts& host = setting.host;
  RankTime time;
  time.forward = {.device = work.forward.at_duty(duty),
                  .host = forward_host(work.forward, layers, job, layout, host),
                  .kernels = work.forward.kernels};
  time.backward = {.device = work.backward.at_duty(duty) + work.recompute.at_duty(duty),
                   .host = backward_host(work.backward, job, layout, host),
                   .kernels = work.backward.kernels + work.recompute.kernels};
  if (work.recompute.kernels > 0.0 && launch_of(job, layout) == Launch::kEager) {
    time.backward.host += forward_host(work.recompute, layers, job, layout, host);
  }
  if (gathers_units(job, layout, shard)) {
    const double units = layers + (stage.embedding || stage.head ? 1.0 : 0.0);
    time.forward.host += host.fsdp_forward.value * units + host.fsdp_entry.value;
    time.forward.device += host.fsdp_entry.value;  // which waits for them
    time.backward.host += host.fsdp_backward.value * units;
  }
  if (job.workload != describe::Workload::kForward) {
    time.update = update_time(job, layout, stage, shard, setting);
  }
  return time;
}

Seconds step_time(const RankTime& time, std::int64_t microbatches) {
  RankClock clock;
  for (std::int64_t i = 0; i < microbatches; ++i) {
    clock.run(time.forward);
    clock.run(time.backward);
  }
  clock.run(time.update);
  return clock.now();
}

}  // namespace sextant::cost
