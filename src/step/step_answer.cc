#include "step/step_answer.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/layout/precision.h"
#include "step/energy.h"
#include "workload/operators.h"

namespace sextant::step {
namespace {

using describe::Job;
using describe::Layout;
using workload::Shard;
using workload::Stage;

constexpr std::array<std::string_view, kAxes> kExposedNames{
    "exposed tp", "exposed cp", "exposed ep", "exposed pp", "exposed dp"};

// Mean of all devices: ranks of a stage do the same, so the mean of the pipeline ranks.
StepUse use_of(const Job& job, const Shard& shard, const std::vector<Stage>& stages, Seconds step) {
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
  StepUse use;
  use.format = describe::unit_of(job.layout.precision);
  if (const auto& peak = job.cluster.device.peak(use.format)) {
    use.peak = peak->value;
  }
  use.model = microbatch.model * times / ranks / step;
  use.hardware = (executed * times + update) / ranks / step;
  return use;
}

// Whether the fullest rank fits, and what would help.
StepMemory memory_of(const cost::RankMemory& fullest, const Job& job,
                     const describe::MemoryFacts& facts) {
  StepMemory memory;
  memory.fullest = fullest;
  memory.available = job.cluster.device.usable_memory();
  memory.rejection = cost::memory_rejection(memory.fullest, memory.available);
  memory.odds = cost::fit_odds(memory.fullest, memory.available);
  if (memory.rejection || memory.tight()) {
    memory.changes =
        cost::fitting_changes(job, facts, memory.rejection ? cost::kFitsOdds : cost::kSafeOdds);
  }
  return memory;
}

// The fastest first; those that send to the host last, whose copies are not in the time.
void time_changes(const Job& job, const machine::StepModel& model, StepMemory& memory) {
  Job changed = job;
  for (cost::FittingChange& change : memory.changes) {
    changed.layout = change.layout;
    change.step = estimate_step(changed, model).step;
  }
  std::ranges::stable_sort(memory.changes, {}, [](const cost::FittingChange& change) {
    const Layout& layout = change.layout;
    return std::pair(layout.optimizer.offload || layout.activation_offload,
                     change.step.value_or(Seconds()));
  });
}

ComputeEstimate with_parts(cost::RankDetail rank, const Job& job) {
  ComputeEstimate estimate;
  estimate.parts = cost::time_parts(rank);
  estimate.use = cost::utilisation(rank, job);
  estimate.rank = std::move(rank);
  return estimate;
}

}  // namespace

std::vector<StepTerm> step_terms(const StepEstimate& step) {
  std::vector<StepTerm> terms{{"compute", "compute", step.compute},
                              {"host", "waiting for the host", step.host}};
  for (std::size_t i = 0; i < kAxes; ++i) {
    terms.push_back({kAxisWords[i].second, kExposedNames[i], step.exposed.times[i], true});
  }
  terms.push_back({"bubble", "bubble", step.bubble});
  terms.push_back({"update", "update", step.update});
  terms.push_back({"loop", "loop and unevenness", step.beside});
  return terms;
}

Seconds Estimate::slowest_microbatch() const {
  Seconds sum;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].pipeline_rank == step.slowest_rank) {
      sum += step.stages[i].forward.total() + step.stages[i].backward.total();
    }
  }
  return sum;
}

Result<void> check_tokens(const Job& job) {
  constexpr std::int64_t kMostTokens = 1'000'000'000;
  const std::int64_t tokens = saturating_product({job.layout.mbs, job.sequences.length});
  if (tokens > kMostTokens) {
    return invalid(fmt::format("a microbatch of {} tokens", with_thousands(tokens)), "mbs, ‹seq›",
                   fmt::format("at most {}", with_thousands(kMostTokens)));
  }
  return {};
}

MemoryEstimate memory_estimate(const Job& job, const describe::MemoryFacts& facts) {
  cost::MemoryModel model(job, facts);
  std::vector<cost::RankMemory> ranks;
  for (std::int64_t rank = 0; rank < job.layout.pp; ++rank) {
    ranks.push_back(model.rank(job.layout, rank));
  }
  const auto fullest = std::ranges::max_element(ranks, {}, &cost::RankMemory::device);
  return {memory_of(*fullest, job, facts), std::move(ranks)};
}

cost::MemoryRecord memory_record(const Job& job, const describe::MemoryFacts& facts,
                                 std::int64_t pipeline_rank) {
  return cost::MemoryModel(job, facts).why(job.layout, pipeline_rank);
}

namespace {

// With messages that may take `factor` times as long, or as short.
describe::StepSpread widened(describe::StepSpread spread, const StepEstimate& step, double factor) {
  const double share = step.exposed.total() / step.step;
  spread.low = std::max(spread.low - share * (1.0 - 1.0 / factor), spread.low / factor);
  spread.high += share * (factor - 1.0);
  return spread;
}

Estimate estimate_around(StepEstimate step, const Job& job, const machine::StepMachine& machine) {
  const Shard shard = workload::shard_of(job);
  Estimate result;
  result.step = std::move(step);
  result.stages = workload::stages_of(job);
  result.microbatches = shard.microbatches;
  result.devices = job.cluster.devices;
  result.tokens = as_double(job.global_batch) * as_double(job.sequences.length);
  if (machine.spreads) {
    result.interval = widened(machine.spreads->of(job), result.step, machine.comm_factor);
  }
  result.use = use_of(job, shard, result.stages, result.step.step);
  result.memory =
      memory_of(cost::MemoryModel(job, machine.memory).fullest(job.layout), job, machine.memory);
  time_changes(job, machine.model, result.memory);
  if (machine.power) {
    result.energy = device_energy(result.step, *machine.power) * as_double(job.cluster.devices);
  }
  return result;
}

}  // namespace

Estimate whole_estimate(const Job& job, const machine::StepMachine& machine) {
  return estimate_around(estimate_step(job, machine.model), job, machine);
}

RecordedEstimate recorded_estimate(const Job& job, const machine::StepMachine& machine) {
  RecordedStep step = recorded_step(job, machine.model);
  return {estimate_around(std::move(step.estimate), job, machine), std::move(step.record)};
}

ComputeEstimate compute_estimate(const Job& job, std::int64_t pipeline_rank,
                                 const cost::DeviceModel& device, const describe::HostFacts& host) {
  return with_parts(
      cost::rank_detail(job, pipeline_rank, {.device = device, .host = host, .clips = true}), job);
}

ComputeEstimate slowest_compute(const Job& job, const cost::DeviceModel& device,
                                const describe::HostFacts& host) {
  return with_parts(cost::slowest_rank(job, {.device = device, .host = host, .clips = true}), job);
}

}  // namespace sextant::step
