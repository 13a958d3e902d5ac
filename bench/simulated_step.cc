#include "simulated_step.h"

#include <algorithm>
#include <vector>

#include "describe/layout/layout_text.h"
#include "schedule/compile.h"
#include "schedule/generate.h"
#include "schedule/simulate.h"
#include "step/pipeline.h"
#include "step/pipeline_costs.h"
#include "step/step_costs.h"
#include "workload/stages.h"

namespace sextant::bench {
namespace {

// When a pipeline rank begins and ends, and what it does once a step.
struct Rank {
  Seconds start = 1e9_s;
  Seconds end;
  Seconds forward;  // of a microbatch, through all its stages
  Seconds backward;
  step::OnceCost once;
};

// As the cost model has it: what `behind` does not hide, at least the `end` of it, is exposed.
Seconds beyond(const step::AxisTimes& all, Seconds behind, Seconds end) {
  return all.total() > Seconds() ? std::max(end, all.total() - behind) : Seconds();
}

void add_stage(const step::StageCost& stage, Rank& rank) {
  rank.forward += stage.forward.total();
  rank.backward += stage.backward.total();
  rank.once.reduced += stage.reduced;
  rank.once.reduced_last = std::max(rank.once.reduced_last, stage.reduced_last);
  rank.once.reduced_bare += stage.reduced_bare;
  rank.once.gathered += stage.gathered;
  rank.once.gathered_first = std::max(rank.once.gathered_first, stage.gathered_first);
  rank.once.gathered_bare += stage.gathered_bare;
  rank.once.around_update += stage.around_update;
  rank.once.update += stage.update;
}

// `share`: of a microbatch's pass that hides what is sent once a step.
Seconds step_of(const std::vector<Rank>& ranks, double share) {
  Seconds late;
  Seconds passed;
  Seconds updated;
  for (const Rank& rank : ranks) {
    const step::OnceCost& once = rank.once;
    const Seconds gathered = beyond(once.gathered, rank.forward * share, once.gathered_first) +
                             once.gathered_bare.total();
    const Seconds reduced =
        beyond(once.reduced, rank.backward * share, once.reduced_last) + once.reduced_bare.total();
    late = std::max(late, gathered - rank.start);
    passed = std::max(passed, rank.end + reduced);
    updated = std::max(updated,
                       once.around_update.total() + std::max(once.update.device, once.update.host));
  }
  return late + passed + updated;
}

}  // namespace

Result<SimulatedStep> simulated_step(const search::Problem& problem,
                                     const describe::Layout& layout) {
  // Step 1. What each stage costs, and the model's own step.
  describe::Job job = problem.job;
  job.layout = layout;
  const std::int64_t microbatches = job.microbatches();
  step::StepCosts priced(problem.job, problem.machine);
  const step::StepTerms terms = priced.terms(layout);
  const std::vector<step::StageCost> stages = priced.stages();
  const step::PipelineCostLists pipeline = step::pipeline_costs(stages);
  // Step 2. The pipeline, action by action.
  SEXTANT_TRY(const schedule::ActionTable table,
              schedule::action_table(schedule::shape_of(layout, microbatches)));
  SEXTANT_TRY(const schedule::CompiledTable compiled, schedule::compiled(table));
  schedule::Workspace work;
  const Seconds span = schedule::simulate(compiled, pipeline.view(), work).makespan;
  // Step 3. Once a step, as the model does: its own span is part of its step, the rest is that.
  const auto modelled = step::PipelineClock().span(pipeline.view(), layout, microbatches);
  if (!modelled) {
    return invalid("no span", describe::to_text(layout));
  }
  // Step 4. Once a step, rank by rank.
  std::vector<Rank> ranks(static_cast<std::size_t>(compiled.ranks));
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const auto rank = workload::pipeline_rank_of(static_cast<std::int64_t>(i), layout);
    add_stage(stages[i], ranks[static_cast<std::size_t>(rank)]);
  }
  for (std::size_t i = 0; i < compiled.steps.size(); ++i) {
    Rank& rank = ranks[compiled.steps[i].rank];
    rank.start = std::min(rank.start, work.starts[i] * 1_s);
    rank.end = std::max(rank.end, work.ends[i + 1] * 1_s);
  }
  const double share =
      problem.machine.facts.hiding_compute.value * step::hiding_microbatches(layout, microbatches);
  return SimulatedStep{span, terms.step - modelled->whole + span,
                       step_of(ranks, share) + terms.beside};
}

}  // namespace sextant::bench
