#include "step/stage_cost.h"

#include <algorithm>

#include "cost/comm/collective_time.h"
#include "cost/comm/group_shape.h"
#include "cost/compute/operator_time.h"
#include "workload/operators.h"
#include "workload/traffic.h"

namespace sextant::step {
namespace {

using workload::Collective;
using workload::GroupKind;
using workload::Hides;
using workload::Phase;

// Messages of one pass, by what hides them.
struct Messages {
  AxisTimes bare;
  AxisTimes behind_product;
  AxisTimes behind_attention;
  AxisTimes behind_layers;
  AxisTimes behind_microbatch;
  Seconds unit;  // the longest message behind layers: the first of a pass is not hidden

  void add(const Collective& message, Seconds each, double times) {
    AxisTimes& into = message.hides == Hides::kGemm         ? behind_product
                      : message.hides == Hides::kAttention  ? behind_attention
                      : message.hides == Hides::kNextLayers ? behind_layers
                      : message.hides == Hides::kMicrobatch ? behind_microbatch
                                                            : bare;
    into[axis_of(message.group)] += each * times;
    if (message.hides == Hides::kNextLayers) {
      unit = std::max(unit, each);
    }
  }
};

// A group's axes on the torus: as many chips of each as it fills, in the torus' order.
std::array<cost::TorusAxis, 3> axes_of(std::int64_t chips, const Torus& torus) {
  std::array<cost::TorusAxis, 3> axes{};
  for (std::size_t i = 0; i < axes.size() && chips > 1; ++i) {
    const std::int64_t own = std::min(chips, torus.shape[i]);
    axes[i] = {own, own == torus.shape[i] && torus.rings[i]};
    chips = (chips + own - 1) / own;
  }
  return axes;
}

struct Pricer {
  const StepModel& model;
  const workload::RankGrid& grid;
  std::int64_t rank = 0;

  [[nodiscard]] Seconds once(const Collective& message) const {
    const workload::RankGroup group = grid.group(message.group, rank, message.group_size);
    cost::GroupShape shape = cost::group_shape(group, model.domain_size);
    if (message.op == describe::CollectiveOp::kSendReceive) {
      // Two neighbours of the group.
      const std::int64_t next = group.next();
      const bool near = rank / model.domain_size == next / model.domain_size;
      shape = {2, near ? 1 : 2, near ? 2 : 1, 1};
    }
    const Bytes bytes(static_cast<double>(std::max(message.input_bytes, message.output_bytes)));
    return model.torus ? on_torus(message.op, bytes, shape, *model.torus)
                       : cost::collective_time(message.op, bytes, shape, model.comm);
  }
  // Inside a slice over its links; slices then exchange what each chip holds.
  [[nodiscard]] Seconds on_torus(describe::CollectiveOp op, Bytes bytes,
                                 const cost::GroupShape& shape, const Torus& torus) const {
    const Seconds inside =
        cost::torus_time(op, bytes, axes_of(shape.per_domain, torus), torus.links).total();
    if (shape.domains == 1) {
      return inside;
    }
    const cost::GroupShape across{shape.domains, shape.domains, 1, shape.sharing};
    return inside + cost::collective_time(op, bytes / static_cast<double>(shape.per_domain), across,
                                          model.comm);
  }
};

// What of `messages` a budget of compute does not hide, taken from every axis alike.
AxisTimes beyond(const AxisTimes& messages, Seconds budget) {
  const Seconds all = messages.total();
  return all <= budget ? AxisTimes() : messages * ((all - budget) / all);
}

void expose(const Messages& messages, Seconds attention, const StepModel& model, PassCost& pass) {
  const describe::StepFacts& facts = model.facts;
  AxisTimes hideable = messages.behind_product;
  hideable += messages.behind_attention;
  hideable += messages.behind_layers;
  hideable += messages.behind_microbatch;
  pass.exposed = messages.bare;
  pass.exposed += messages.behind_product * (1.0 - facts.hidden_tensor.value);
  pass.exposed += beyond(messages.behind_attention, attention);
  pass.exposed += beyond(messages.behind_layers, pass.compute * facts.hiding_compute.value);
  pass.exposed[Axis::kData] += std::min(messages.unit, messages.behind_layers.total());
  pass.exposed += messages.behind_microbatch * (1.0 - facts.hidden_expert.value);
  const Seconds exposed = pass.exposed.total() - messages.bare.total();
  const Seconds hidden = std::max(Seconds(), hideable.total() - exposed);
  pass.hidden = hideable * (hideable.total() > Seconds() ? hidden / hideable.total() : 0.0);
  pass.slowed = std::min(hidden, pass.compute) * facts.slowed.value;
}

Seconds attention_time(std::span<const cost::OperatorTime> times, bool forward) {
  Seconds sum;
  for (const cost::OperatorTime& one : times) {
    const bool is_forward = one.op.pass == workload::Pass::kForward;
    if (one.op.kind == workload::OpKind::kAttention && is_forward == forward) {
      sum += one.total();
    }
  }
  return sum;
}

Seconds weight_gradient_time(std::span<const cost::OperatorTime> times) {
  Seconds sum;
  for (const cost::OperatorTime& one : times) {
    sum += one.op.pass == workload::Pass::kWeightGradient ? one.total() : Seconds();
  }
  return sum;
}

void set_compute(const cost::PhaseTime& phase, const StepModel& model, PassCost& pass) {
  pass.compute = phase.device;
  pass.host = phase.host * model.facts.host.value;
  pass.tail = phase.tail;
}

// Clipping: every training framework does it.
Seconds norm_time(const describe::Job& job, const workload::Stage& stage,
                  const workload::Shard& shard, const cost::DeviceModel& device) {
  Seconds sum;
  for (const workload::Operator& op :
       workload::update_operators(job, job.layout, {&stage, 1}, shard)) {
    if (op.kind == workload::OpKind::kReduceNorm) {
      sum += cost::operator_time(op, device).total() * static_cast<double>(op.count);
    }
  }
  return sum;
}

void add_once(const Collective& message, Seconds each, StageCost& cost) {
  const Seconds all = each * static_cast<double>(message.count);
  const Axis axis = axis_of(message.group);
  const bool hides = message.hides == Hides::kNextLayers;
  switch (message.phase) {
    case Phase::kGradient:
      (hides ? cost.reduced : cost.reduced_bare)[axis] += all;
      cost.reduced_last = hides ? std::max(cost.reduced_last, each) : cost.reduced_last;
      break;
    case Phase::kGather:
      (hides ? cost.gathered : cost.gathered_bare)[axis] += all;
      cost.gathered_first = hides ? std::max(cost.gathered_first, each) : cost.gathered_first;
      break;
    case Phase::kUpdate:
    case Phase::kForward:
    case Phase::kRecompute:
    case Phase::kBackward:
      cost.around_update[axis] += all;
      break;
  }
}

}  // namespace

StageCost stage_cost(const describe::Job& job, const workload::Stage& stage,
                     const workload::Shard& shard, const workload::RankGrid& grid,
                     const StepModel& model) {
  StageCost cost;
  const cost::RankSetting setting{.device = model.device, .host = model.host};
  const cost::RankTime time = cost::rank_time(job, job.layout, stage, shard, setting);
  const std::vector<cost::OperatorTime> operators =
      cost::microbatch_times(workload::stage_operators(job, stage, shard), model.device);
  set_compute(time.forward, model, cost.forward);
  set_compute(time.backward, model, cost.backward);
  cost.weight_gradient = weight_gradient_time(operators);
  cost.update = time.update;
  cost.update.host = cost.update.host * model.facts.host.value;
  cost.update.device += norm_time(job, stage, shard, model.device);
  const Pricer pricer{model, grid, grid.on_pipeline_rank(0, stage.pipeline_rank)};
  Messages forward;
  Messages backward;
  const auto microbatches = static_cast<double>(std::max<std::int64_t>(1, shard.microbatches));
  for (const Collective& message : workload::step_collectives(job, stage, shard)) {
    const Seconds each = pricer.once(message);
    const double times = static_cast<double>(message.count) / microbatches;
    if (message.group == GroupKind::kPipeline) {
      (message.phase == Phase::kForward ? cost.send_forward : cost.send_backward) = each;
      cost.sends_hidden = message.hides != Hides::kNothing;
    } else if (message.phase == Phase::kForward) {
      forward.add(message, each, times);
    } else if (message.phase == Phase::kRecompute || message.phase == Phase::kBackward) {
      backward.add(message, each, times);
    } else {
      add_once(message, each, cost);
    }
  }
  expose(forward, attention_time(operators, true), model, cost.forward);
  expose(backward, attention_time(operators, false), model, cost.backward);
  return cost;
}

}  // namespace sextant::step
