#include "schedule/simulate.h"

#include <algorithm>
#include <cassert>

namespace sextant::schedule {

namespace {

std::size_t cost_index(const Action& action) {
  return static_cast<std::size_t>(action.stage) * kActionKinds +
         static_cast<std::size_t>(action.kind);
}

Seconds between(std::span<const Seconds> transfers, std::size_t stage) {
  return stage < transfers.size() ? transfers[stage] : Seconds();
}

// Costs by [stage][kind] as plain numbers, what the pass over the steps looks up.
void lay_out_costs(const CompiledTable& table, const PipelineCosts& costs, Workspace& work) {
  const auto stages = static_cast<std::size_t>(table.stages);
  work.durations.resize(stages * kActionKinds);
  work.waits.assign(stages * kActionKinds, 0.0);
  work.holds.assign(stages * kActionKinds, 0.0);
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const StageCosts& cost = costs.stages[stage];
    double* const duration = &work.durations[stage * kActionKinds];
    duration[0] = cost.forward.base();
    duration[1] = cost.backward.base();
    duration[2] = cost.input_gradient.base();
    duration[3] = cost.weight_gradient.base();
    duration[4] = cost.reduce_gradient.base();
  }
  const bool blocking = costs.transfers == TransferMode::kBlocking;
  for (std::size_t stage = 0; stage + 1 < stages; ++stage) {
    const std::size_t here = stage * kActionKinds;
    const std::size_t after = here + kActionKinds;
    const double down = between(costs.forward_transfer, stage).base();
    const double up = between(costs.backward_transfer, stage).base();
    (blocking ? work.holds[here] : work.waits[after]) = down;
    for (const std::size_t kind : {1U, 2U}) {
      (blocking ? work.holds[after + kind] : work.waits[here + kind]) = up;
    }
  }
}

// The pass over the steps. Scaled: microbatches differ.
template <bool kScaled>
class Pass {
 public:
  Pass(const PipelineCosts& costs, Workspace& work) : costs_(costs), work_(work) {}

  void single(const Step& step, std::size_t number) {
    const std::size_t cost = cost_index(step.action);
    const double length = duration(step, cost);
    place(step.rank, number, 1, {ready(step, cost), length, step.sends ? work_.holds[cost] : 0.0});
  }

  void pair(const Step& a, const Step& b, std::size_t number) {
    const std::size_t cost_a = cost_index(a.action);
    const std::size_t cost_b = cost_index(b.action);
    const double length_a = duration(a, cost_a);
    const double length_b = duration(b, cost_b);
    const double hold_a = a.sends ? work_.holds[cost_a] : 0.0;
    const double hold_b = b.sends ? work_.holds[cost_b] : 0.0;
    place(a.rank, number, 2,
          {std::max(ready(a, cost_a), ready(b, cost_b)),
           std::max({length_a, length_b, costs_.overlap * (length_a + length_b)}),
           std::max(hold_a, hold_b)});
  }

 private:
  struct Slot {
    double ready = 0.0;
    double length = 0.0;
    double hold = 0.0;
  };

  [[nodiscard]] double duration(const Step& step, std::size_t cost) const {
    if constexpr (kScaled) {
      return step.action.kind == ActionKind::kReduceGradient
                 ? work_.durations[cost]
                 : work_.durations[cost] *
                       costs_.microbatch_scale[static_cast<std::size_t>(step.action.microbatch)];
    } else {
      return work_.durations[cost];
    }
  }
  [[nodiscard]] double ready(const Step& step, std::size_t cost) const {
    return work_.ends[step.after] + (step.receives ? work_.waits[cost] : 0.0);
  }
  void place(std::uint32_t rank, std::size_t number, std::size_t steps, Slot slot) {
    const double start = std::max(work_.rank_ends[rank], slot.ready);
    const double end = start + slot.length + slot.hold;
    work_.rank_ends[rank] = end;
    work_.ranks[rank].busy += Seconds(slot.length);
    work_.ranks[rank].sending += Seconds(slot.hold);
    for (std::size_t each = number; each < number + steps; ++each) {
      work_.starts[each] = start;
      work_.ends[each + 1] = end;
    }
  }

  const PipelineCosts& costs_;
  Workspace& work_;
};

template <bool kScaled>
void run(const CompiledTable& table, const PipelineCosts& costs, Workspace& work) {
  Pass<kScaled> pass(costs, work);
  const std::vector<Step>& steps = table.steps;
  for (std::size_t number = 0; number < steps.size();) {
    const Step& step = steps[number];
    if (step.action.with_next) {
      pass.pair(step, steps[number + 1], number);
      number += 2;
    } else {
      pass.single(step, number);
      ++number;
    }
  }
}

}  // namespace

double PipelineTime::bubble_share() const {
  Seconds idle;
  for (const RankTime& rank : ranks) {
    idle += rank.idle;
  }
  const Seconds all = makespan * static_cast<double>(ranks.size());
  return all > Seconds() ? idle / all : 0.0;
}

PipelineTime simulate(const CompiledTable& table, const PipelineCosts& costs,
                      Workspace& workspace) {
  assert(costs.stages.size() == static_cast<std::size_t>(table.stages));
  assert(costs.microbatch_scale.empty() ||
         costs.microbatch_scale.size() == static_cast<std::size_t>(table.microbatches));
  lay_out_costs(table, costs, workspace);
  const auto ranks = static_cast<std::size_t>(table.ranks);
  workspace.rank_ends.assign(ranks, 0.0);
  workspace.ranks.assign(ranks, {});
  workspace.starts.resize(table.steps.size());
  workspace.ends.resize(table.steps.size() + 1);
  workspace.ends[0] = 0.0;
  if (costs.microbatch_scale.empty()) {
    run<false>(table, costs, workspace);
  } else {
    run<true>(table, costs, workspace);
  }
  const double last = *std::max_element(workspace.rank_ends.begin(), workspace.rank_ends.end());
  for (RankTime& rank : workspace.ranks) {
    rank.idle = std::max(Seconds(), Seconds(last) - rank.busy - rank.sending);
  }
  return {Seconds(last), workspace.ranks};
}

Seconds makespan(const CompiledTable& table, const PipelineCosts& costs) {
  Workspace workspace;
  return simulate(table, costs, workspace).makespan;
}

}  // namespace sextant::schedule
