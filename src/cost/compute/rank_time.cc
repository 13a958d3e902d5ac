#include "cost/compute/rank_time.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <variant>

#include "cost/compute/operator_time.h"
#include "describe/layout/precision.h"
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

bool ends_a_forward(const Operator& op) {
  return op.part == workload::Part::kHead || op.part == workload::Part::kLoss;
}

StageWork add_up(std::span<const OperatorTime> times) {
  StageWork work;
  for (const OperatorTime& one : times) {
    const Pass pass = one.op.pass;
    PhaseWork& phase = pass == Pass::kForward     ? work.forward
                       : pass == Pass::kRecompute ? work.recompute
                                                  : work.backward;
    phase.device += one.total();
    phase.ends += ends_a_forward(one.op) ? one.total() : Seconds();
    phase.kernels += one.op.kernels * one.times;
    phase.products += is_product(one.op) && pass != Pass::kWeightGradient ? one.times : 0.0;
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

// Issuing kernels without Python; nothing where every line is a call of its own.
std::optional<Seconds> issued_at_once(const PhaseWork& work, Launch launch, const HostFacts& host) {
  switch (launch) {
    case Launch::kCudaGraph:
      return host.graph_kernel.value * work.kernels;
    case Launch::kCompiled:
      return host.compiled_kernel.value * work.kernels + host.compiled_step.value;
    case Launch::kEager:
      break;
  }
  return std::nullopt;
}

// Issuing a forward of `layers` layers.
Seconds forward_host(const PhaseWork& work, double layers, const Job& job, const Layout& layout,
                     const HostFacts& host) {
  if (const auto issued = issued_at_once(work, launch_of(job, layout), host)) {
    return *issued;
  }
  const bool dtensor = shards_with_dtensor(job, layout);
  return host.forward_kernel.value * work.kernels + host.layer.value * layers +
         (dtensor ? host.dtensor_forward.value * work.products : Seconds()) +
         (dtensor && layout.sp ? host.dtensor_sequence.value * layers : Seconds());
}

Seconds backward_host(const PhaseWork& work, const Job& job, const Layout& layout,
                      const HostFacts& host) {
  if (const auto issued = issued_at_once(work, launch_of(job, layout), host)) {
    return *issued;
  }
  const bool dtensor = shards_with_dtensor(job, layout);
  return host.backward_kernel.value * work.kernels +
         (dtensor ? host.dtensor_backward.value * work.products : Seconds());
}

bool alike(const Operator& a, const Operator& b) {
  const auto shape = [](const Operator& op) {
    return std::tie(op.kind, op.pass, op.part, op.dtype, op.batch, op.m, op.n, op.k, op.heads,
                    op.kv_heads, op.value_dim, op.keys, op.masked, op.kernels, op.indexed, op.flops,
                    op.model_flops, op.read, op.written);
  };
  return shape(a) == shape(b);
}

}  // namespace

void add_alike(const OperatorTime& more, std::vector<OperatorTime>& list) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const OperatorTime& known) {
    return alike(known.op, more.op);
  });
  if (found == list.end()) {
    list.push_back(more);
    return;
  }
  const double times = found->times + more.times;
  if (times > 0.0) {
    found->limited = (found->limited * found->times + more.limited * more.times) / times;
  }
  found->times = times;
}

Seconds expert_wait(const Job& job, const Layout& layout, const Stage& stage, const Shard& shard,
                    const HostFacts& host) {
  if (job.framework != Framework::kMegatronCore || layout.launch == Launch::kCudaGraph) {
    return {};
  }
  double experts = 0.0;
  for (std::size_t i = 0; i < stage.blocks.size(); ++i) {
    if (const auto* moe = std::get_if<describe::MoeFfn>(&job.model.blocks[i].ffn)) {
      experts += static_cast<double>(stage.blocks[i]) * static_cast<double>(moe->experts) /
                 static_cast<double>(shard.ep);
    }
  }
  const bool quantises = describe::is_quantised(layout.precision);
  return (quantises ? host.expert_8bit : host.expert).value * experts;
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

bool gathers_units(const Job& job, const Layout& layout, const Shard& shard) {
  return job.framework != Framework::kMaxtext && shard.zero_shards > 1 &&
         (layout.zero == describe::Zero::kParameters || layout.zero == describe::Zero::kGradients);
}

PhaseTime update_time(const Job& job, const Layout& layout, const Stage& stage, const Shard& shard,
                      const RankSetting& setting, std::vector<OperatorTime>* noted) {
  PhaseTime phase;
  if (job.workload == describe::Workload::kForward) {
    return phase;
  }
  const double passes = setting.update == UpdateLoop::kFused ? 1.0 : kForeachBytes;
  for (const Operator& op : workload::update_operators(job, layout, {&stage, 1}, shard)) {
    if (op.kind == OpKind::kReduceNorm && !setting.clips) {
      continue;
    }
    const OperatorCost cost = operator_time(op, setting.device);
    const double times =
        static_cast<double>(op.count) * (op.kind == OpKind::kOptimizer ? passes : 1.0);
    phase.device += cost.total() * times;
    if (noted != nullptr) {
      noted->push_back({.op = op, .times = times, .cost = cost});
    }
    phase.kernels += op.kernels * static_cast<double>(op.count);
  }
  const HostFacts& host = setting.host;
  const Seconds tensor = setting.update == UpdateLoop::kFused     ? host.fused_tensor.value
                         : setting.update == UpdateLoop::kForeach ? host.foreach_tensor.value
                                                                  : host.loop_tensor.value;
  phase.host = tensor * parameter_tensors(job, stage, shard);
  return phase;
}

std::vector<OperatorTime> microbatch_times(std::span<const Operator> operators,
                                           const DeviceModel& device) {
  constexpr Seconds kNever = 1e9_s;
  DeviceModel burst = device;
  burst.power_ramp = kNever;
  std::vector<OperatorTime> list;
  list.reserve(operators.size());
  Seconds all;
  Seconds products;
  for (const Operator& op : operators) {
    const auto times = static_cast<double>(op.count);
    list.push_back({.op = op, .times = times, .cost = operator_time(op, burst)});
    const OperatorCost& cost = list.back().cost;
    all += cost.total() * times;
    products += is_product(op) ? (cost.compute + cost.output) * times : Seconds();
  }
  const double duty = device.duty.share(all > Seconds() ? products / all : 0.0);
  for (OperatorTime& one : list) {
    one.limited = limit_share(one.op, device) * duty;
  }
  return list;
}

RankTime rank_time(const Job& job, const Layout& layout, const Stage& stage, const Shard& shard,
                   const RankSetting& setting) {
  return rank_time(
      job, layout, stage, shard, setting,
      microbatch_times(workload::stage_operators(job, layout, stage, shard), setting.device));
}

RankTime rank_time(const Job& job, const Layout& layout, const Stage& stage, const Shard& shard,
                   const RankSetting& setting, std::span<const OperatorTime> operators) {
  RankTime time = microbatch_time(job, layout, stage, shard, setting, add_up(operators));
  time.update = update_time(job, layout, stage, shard, setting);
  return time;
}

RankTime microbatch_time(const Job& job, const Layout& layout, const Stage& stage,
                         const Shard& shard, const RankSetting& setting, const StageWork& work) {
  const auto layers = static_cast<double>(stage.layers);
  const HostFacts& host = setting.host;
  RankTime time;
  time.forward = {.device = work.forward.device,
                  .host = forward_host(work.forward, layers, job, layout, host),
                  .tail = work.forward.ends,
                  .kernels = work.forward.kernels};
  time.backward = {.device = work.backward.device + work.recompute.device,
                   .host = backward_host(work.backward, job, layout, host),
                   .tail = Seconds(),
                   .kernels = work.backward.kernels + work.recompute.kernels};
  if (work.recompute.kernels > 0.0 && launch_of(job, layout) == Launch::kEager) {
    time.backward.host += forward_host(work.recompute, layers, job, layout, host);
  }
  if (gathers_units(job, layout, shard)) {
    const double units = layers + (stage.embedding || stage.head ? 1.0 : 0.0);
    time.forward.host += host.fsdp_forward.value * units + host.fsdp_entry.value;
    time.first_gather = host.fsdp_entry.value;  // which the device waits for
    time.forward.device += time.first_gather;
    time.backward.host += host.fsdp_backward.value * units;
  }
  time.expert_wait = expert_wait(job, layout, stage, shard, host);
  time.forward.device += time.expert_wait;
  time.backward.device += time.expert_wait;
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
