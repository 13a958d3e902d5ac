#include "app/step_answer.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/layout/precision.h"
#include "step/energy.h"
#include "workload/operators.h"

namespace sextant::app {
namespace {

using describe::Job;
using workload::Shard;
using workload::Stage;

constexpr double kSumRounding = 1e-12;  // of a sum: a difference as small is nothing

// Mean of all devices: ranks of a stage do the same, so the mean of the pipeline ranks.
explain::StepUse use_of(const Job& job, const Shard& shard, const std::vector<Stage>& stages,
                        Seconds step) {
  workload::WorkTotals microbatch;
  Flops update;
  for (const Stage& stage : stages) {
    microbatch += workload::stage_totals(job, job.layout, stage, shard);
    update += workload::update_totals(job, job.layout, {&stage, 1}, shard).update.flops;
  }
  const double ranks = as_double(shard.pp);
  const double times = as_double(shard.microbatches);
  const Flops executed = microbatch.forward.flops + microbatch.input_gradient.flops +
                         microbatch.weight_gradient.flops + microbatch.recompute.flops;
  explain::StepUse use;
  use.format = describe::unit_of(job.layout.precision);
  if (const auto& peak = job.cluster.device.peak(use.format)) {
    use.peak = peak->value;
  }
  use.model = microbatch.model * times / ranks / step;
  use.hardware = (executed * times + update) / ranks / step;
  return use;
}

explain::StepMemory step_memory(const Job& job, const describe::MemoryFacts& facts) {
  explain::StepMemory memory;
  memory.fullest = cost::MemoryModel(job, facts).fullest(job.layout);
  memory.available = job.cluster.device.usable_memory();
  memory.rejection = cost::memory_rejection(memory.fullest, memory.available);
  if (memory.rejection) {
    memory.changes = cost::fitting_changes(job, facts);
  }
  return memory;
}

explain::ComputeEstimate with_parts(cost::RankDetail rank, const Job& job) {
  explain::ComputeEstimate estimate;
  estimate.parts = cost::time_parts(rank);
  estimate.use = cost::utilisation(rank, job);
  estimate.rank = std::move(rank);
  return estimate;
}

}  // namespace

Result<void> check_tokens(const Job& job) {
  constexpr std::int64_t kMostTokens = 1'000'000'000;
  const std::int64_t tokens = saturating_product({job.layout.mbs, job.sequences.length});
  if (tokens > kMostTokens) {
    return invalid(fmt::format("a microbatch of {} tokens", with_thousands(tokens)), "mbs, --seq",
                   fmt::format("at most {}", with_thousands(kMostTokens)));
  }
  return {};
}

explain::StepResult step_result(const Job& job, const machine::StepMachine& machine) {
  const Shard shard = workload::shard_of(job);
  explain::StepResult result;
  result.step = step::estimate_step(job, machine.model);
  if (result.step.host < result.step.step * kSumRounding) {
    result.step.host = Seconds();
  }
  result.stages = workload::stages_of(job);
  result.microbatches = shard.microbatches;
  result.devices = job.cluster.devices;
  result.tokens = as_double(job.global_batch) * as_double(job.sequences.length);
  if (machine.spreads) {
    result.interval = machine.spreads->of(job);
  }
  result.use = use_of(job, shard, result.stages, result.step.step);
  result.memory = step_memory(job, machine.memory);
  if (machine.power) {
    result.energy =
        step::device_energy(result.step, *machine.power) * as_double(job.cluster.devices);
  }
  return result;
}

explain::ComputeEstimate compute_estimate(const Job& job, std::int64_t pipeline_rank,
                                          const cost::DeviceModel& device,
                                          const describe::HostFacts& host) {
  return with_parts(
      cost::rank_detail(job, pipeline_rank, {.device = device, .host = host, .clips = true}), job);
}

explain::ComputeEstimate slowest_compute(const Job& job, const cost::DeviceModel& device,
                                         const describe::HostFacts& host) {
  return with_parts(cost::slowest_rank(job, {.device = device, .host = host, .clips = true}), job);
}

}  // namespace sextant::app
