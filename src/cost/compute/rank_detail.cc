#include "cost/compute/rank_detail.h"

#include <algorithm>

#include "describe/layout/precision.h"
#include "workload/operators.h"

namespace sextant::cost {
namespace {

using describe::Job;
using workload::Operator;
using workload::OpKind;
using workload::Pass;
using workload::Shard;
using workload::Stage;

// A stage that a rank runs, and for which share of the microbatches.
struct Held {
  Stage stage;
  double share = 1.0;
};

// By pipeline rank.
std::vector<std::vector<Held>> held_stages(const Job& job) {
  const std::int64_t pp = job.layout.pp;
  const bool twice = job.layout.schedule == describe::Schedule::kDualPipe && pp > 1;
  std::vector<std::vector<Held>> ranks(static_cast<std::size_t>(pp));
  for (const Stage& stage : workload::stages_of(job)) {
    ranks[static_cast<std::size_t>(stage.pipeline_rank)].push_back({stage, twice ? 0.5 : 1.0});
    if (twice) {
      ranks[static_cast<std::size_t>(pp - 1 - stage.pipeline_rank)].push_back({stage, 0.5});
    }
  }
  return ranks;
}

PhaseTime scaled(const PhaseTime& phase, double by) {
  return {.device = phase.device * by,
          .host = phase.host * by,
          .tail = phase.tail * by,
          .kernels = phase.kernels * by};
}

RankTime time_of(const Job& job, const std::vector<Held>& held, const Shard& shard,
                 const RankSetting& setting) {
  RankTime sum;
  for (const Held& one : held) {
    const RankTime time = rank_time(job, job.layout, one.stage, shard, setting);
    sum.forward += scaled(time.forward, one.share);
    sum.backward += scaled(time.backward, one.share);
    sum.update += time.update;
    sum.first_gather += time.first_gather * one.share;
    sum.expert_wait += time.expert_wait * one.share;
  }
  return sum;
}

std::size_t phase_of(Pass pass) {
  const StepPhase phase = pass == Pass::kForward  ? StepPhase::kForward
                          : pass == Pass::kUpdate ? StepPhase::kUpdate
                                                  : StepPhase::kBackward;
  return static_cast<std::size_t>(phase);
}

void add_stage(const Job& job, const Held& held, const Shard& shard, const RankSetting& setting,
               RankDetail& rank) {
  const DeviceModel& device = setting.device;
  for (OperatorTime one :
       microbatch_times(workload::stage_operators(job, held.stage, shard), device)) {
    one.times *= held.share;
    add_alike(one, rank.operators[phase_of(one.op.pass)]);
  }
  for (const Operator& op : workload::update_operators(job, {&held.stage, 1}, shard)) {
    if (op.kind != OpKind::kReduceNorm || setting.clips) {
      add_alike(
          {.op = op, .times = static_cast<double>(op.count), .cost = operator_time(op, device)},
          rank.operators[phase_of(op.pass)]);
    }
  }
}

void add_flops(RankDetail& rank) {
  for (const auto& [phase, word] : kStepPhaseWords) {
    for (const OperatorTime& one : rank.operators[static_cast<std::size_t>(phase)]) {
      const double times = one.times * rank.times(phase);
      rank.model_flops += one.op.model_flops * times;
      rank.hardware_flops += one.op.flops * times;
    }
  }
}

RankDetail detail_of(const Job& job, std::int64_t pipeline_rank, const std::vector<Held>& held,
                     const RankSetting& setting) {
  const Shard shard = workload::shard_of(job);
  RankDetail rank;
  rank.pipeline_rank = pipeline_rank;
  rank.microbatches = shard.microbatches;
  rank.time = time_of(job, held, shard, setting);
  rank.step = long_step_time(rank.time, rank.microbatches);
  for (const Held& one : held) {
    rank.stages.push_back(one.stage.index);
    add_stage(job, one, shard, setting, rank);
  }
  add_flops(rank);
  return rank;
}

PhaseTime all_phases(const RankDetail& rank) {
  PhaseTime all;
  for (const auto& [phase, word] : kStepPhaseWords) {
    all += scaled(rank.phase(phase), rank.times(phase));
  }
  return all;
}

}  // namespace

RankDetail rank_detail(const Job& job, std::int64_t pipeline_rank, const RankSetting& setting) {
  return detail_of(job, pipeline_rank, held_stages(job)[static_cast<std::size_t>(pipeline_rank)],
                   setting);
}

RankDetail slowest_rank(const Job& job, const RankSetting& setting) {
  const Shard shard = workload::shard_of(job);
  const std::vector<std::vector<Held>> ranks = held_stages(job);
  std::size_t slowest = 0;
  Seconds longest;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Seconds step = long_step_time(time_of(job, ranks[i], shard, setting), shard.microbatches);
    if (step > longest) {
      longest = step;
      slowest = i;
    }
  }
  return detail_of(job, static_cast<std::int64_t>(slowest), ranks[slowest], setting);
}

Seconds long_step_time(const RankTime& time, std::int64_t microbatches) {
  constexpr std::int64_t kExact = 4096;
  const std::int64_t exact = std::min(microbatches, kExact);
  const Seconds pace =
      std::max(time.forward.host + time.backward.host, time.forward.device + time.backward.device);
  return step_time(time, exact) + pace * static_cast<double>(microbatches - exact);
}

TimeParts time_parts(const RankDetail& rank) {
  TimeParts parts;
  for (const auto& [phase, word] : kStepPhaseWords) {
    for (const OperatorTime& one : rank.operators[static_cast<std::size_t>(phase)]) {
      const Seconds all = one.total() * rank.times(phase);
      const Seconds launch = one.cost.launch * (one.times * rank.times(phase));
      const OpKind kind = one.op.kind;
      Seconds& part = is_product(one.op)                                    ? parts.products
                      : kind == OpKind::kAttention || kind == OpKind::kScan ? parts.attention
                                                                            : parts.streams;
      part += all - launch;
      parts.launches += launch;
    }
  }
  parts.waiting =
      host_wait(rank) + rank.time.first_gather * rank.times(StepPhase::kForward) +
      rank.time.expert_wait * (rank.times(StepPhase::kForward) + rank.times(StepPhase::kBackward));
  return parts;
}

Seconds host_wait(const RankDetail& rank) {
  constexpr double kRounding = 1e-12;  // of the sum, which is no wait
  const Seconds wait = rank.step - all_phases(rank).device;
  return wait > rank.step * kRounding ? wait : Seconds();
}

Bound bound_of(const RankDetail& rank) {
  constexpr double kNoticed = 0.01;
  const Bound slower = bound_of(all_phases(rank));
  const bool waits = host_wait(rank) > rank.step * kNoticed;
  return waits && slower == Bound::kDevice ? Bound::kBoth : slower;
}

Utilisation utilisation(const RankDetail& rank, const Job& job) {
  Utilisation use;
  use.format = describe::unit_of(job.layout.precision);
  const auto& peak = job.cluster.device.peak(use.format);
  if (!peak || peak->value <= FlopsPerSecond() || rank.step <= Seconds()) {
    return use;
  }
  use.peak = peak->value;
  use.model = rank.model_flops / rank.step / use.peak;
  use.hardware = rank.hardware_flops / rank.step / use.peak;
  return use;
}

}  // namespace sextant::cost
