#include "step/estimate.h"

#include <algorithm>

#include "step/pipeline.h"

namespace sextant::step {
namespace {

using describe::Schedule;
using workload::Shard;
using workload::Stage;

// One pipeline rank: its stages together.
struct RankCost {
  Seconds forward;  // of a microbatch through all its stages
  Seconds backward;
  Seconds compute;
  AxisTimes exposed;
  AxisTimes hidden;
  [[nodiscard]] Seconds microbatch() const { return forward + backward; }
  [[nodiscard]] Seconds host() const { return forward + backward - compute - exposed.total(); }
};

void add_stage(const StageCost& stage, RankCost& rank) {
  rank.forward += stage.forward.total();
  rank.backward += stage.backward.total();
  rank.compute +=
      stage.forward.compute + stage.forward.slowed + stage.backward.compute + stage.backward.slowed;
  rank.exposed += stage.forward.exposed;
  rank.exposed += stage.backward.exposed;
  rank.hidden += stage.forward.hidden;
  rank.hidden += stage.backward.hidden;
}

// Once a step, on one rank.
void add_once(const std::vector<StageCost>& stages, const std::vector<Stage>& of, std::int64_t rank,
              const RankCost& cost, const StepModel& model, StepEstimate& estimate) {
  AxisTimes reduced;
  AxisTimes gathered;
  Seconds last;
  Seconds first;
  cost::PhaseTime update;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (of[i].pipeline_rank != rank) {
      continue;
    }
    const StageCost& stage = stages[i];
    reduced += stage.reduced;
    gathered += stage.gathered;
    last = std::max(last, stage.reduced_last);
    first = std::max(first, stage.gathered_first);
    estimate.exposed += stage.reduced_bare;
    estimate.exposed += stage.gathered_bare;
    estimate.exposed += stage.around_update;
    update += stage.update;
  }
  const double share = model.facts.hiding_compute.value;
  const auto exposed = [&](const AxisTimes& all, Seconds behind, Seconds end) {
    const Seconds total = all.total();
    if (total <= Seconds()) {
      return AxisTimes();
    }
    const Seconds bare = std::max(end, total - behind * share);
    return all * (bare / total);
  };
  estimate.exposed += exposed(reduced, cost.backward, last);
  estimate.exposed += exposed(gathered, cost.forward, first);
  estimate.update = std::max(update.device, update.host);
}

}  // namespace

StepEstimate estimate_step(const describe::Job& job, const StepModel& model) {
  const Shard shard = workload::shard_of(job);
  const workload::RankGrid grid(job.layout, shard);
  const std::vector<Stage> stages = workload::stages_of(job);
  StepEstimate estimate;
  std::vector<RankCost> ranks(static_cast<std::size_t>(shard.pp));
  for (const Stage& stage : stages) {
    estimate.stages.push_back(stage_cost(job, stage, shard, grid, model));
    add_stage(estimate.stages.back(), ranks[static_cast<std::size_t>(stage.pipeline_rank)]);
  }
  const auto slowest =
      std::ranges::max_element(ranks, {}, [](const RankCost& rank) { return rank.microbatch(); });
  estimate.slowest_rank = slowest - ranks.begin();
  const auto microbatches = static_cast<double>(shard.microbatches);
  const Seconds busy = (slowest->forward + slowest->backward) * microbatches;
  if (const auto span = pipeline_span(estimate.stages, job.layout, shard.microbatches)) {
    estimate.bubble = std::max(Seconds(), span->quiet - busy);
    estimate.exposed[Axis::kPipeline] += std::max(Seconds(), span->whole - span->quiet);
  } else {
    // As many microbatches as the ranks before and after need to fill and drain.
    for (const RankCost& rank : ranks) {
      estimate.bubble += &rank != &*slowest ? rank.forward + rank.backward : Seconds();
    }
  }
  estimate.compute = slowest->compute * microbatches;
  estimate.host = slowest->host() * microbatches;
  estimate.exposed += slowest->exposed * microbatches;
  estimate.hidden = slowest->hidden * microbatches;
  add_once(estimate.stages, stages, estimate.slowest_rank, *slowest, model, estimate);
  estimate.beside = model.facts.loop.value + estimate.compute * model.facts.uneven.value;
  estimate.step = estimate.compute + estimate.host + estimate.exposed.total() + estimate.bubble +
                  estimate.update + estimate.beside;
  return estimate;
}

}  // namespace sextant::step
