// Laws of the simulation on random schedules and costs.
#include <map>
#include <tuple>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "schedule/simulate.h"
#include "schedule/testing.h"

namespace sextant::schedule {
namespace {

using describe::Schedule;

// Another way to the same answer: starts pushed later until no wait is broken.
class Relaxation {
 public:
  Relaxation(const ActionTable& table, const OwnedCosts& costs) : table_(table), costs_(costs) {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t rank = 0; rank < table.ranks.size(); ++rank) {
        moved = pushed(rank) || moved;
      }
    }
  }
  [[nodiscard]] Seconds makespan() const { return last_; }

 private:
  struct Done {
    Seconds end;
    std::size_t rank = 0;
  };
  using Key = std::tuple<bool, int, int>;  // forward, stage, microbatch

  [[nodiscard]] Seconds compute(const Action& action) const {
    const StageCosts& cost = costs_.stages[static_cast<std::size_t>(action.stage)];
    return action.kind == kF   ? cost.forward
           : action.kind == kB ? cost.backward
           : action.kind == kI ? cost.input_gradient
                               : cost.weight_gradient;
  }
  // The transfer from this action's stage on, and who waits for it.
  [[nodiscard]] Seconds transfer(const Action& action) const {
    const auto stage = static_cast<std::size_t>(action.stage);
    if (action.kind == kF && stage + 1 < costs_.stages.size()) {
      return costs_.forward_transfer[stage];
    }
    return action.kind != kF && action.kind != kW && stage > 0 ? costs_.backward_transfer[stage - 1]
                                                               : Seconds();
  }
  [[nodiscard]] bool leaves(const Action& action, std::size_t rank) const {
    const bool down = action.kind == kF;
    if (action.kind == kW) {
      return false;
    }
    const auto found = done_.find({down, action.stage + (down ? 1 : -1), action.microbatch});
    return found != done_.end() && found->second.rank != rank;
  }
  [[nodiscard]] Seconds arrival(const Action& action, std::size_t rank) const {
    const bool down = action.kind == kF;
    const auto found = done_.find({down, action.stage - (down ? 1 : -1), action.microbatch});
    if (action.kind == kW || found == done_.end()) {
      return Seconds();
    }
    Action sender = action;
    sender.stage -= down ? 1 : -1;
    const bool waits = costs_.transfers == TransferMode::kOverlapped && found->second.rank != rank;
    return found->second.end + (waits ? transfer(sender) : Seconds());
  }
  bool pushed(std::size_t rank) {
    bool moved = false;
    Seconds now;
    const std::vector<Action>& list = table_.ranks[rank];
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t count = list[at].with_next ? 2 : 1;
      Seconds longer;
      Seconds sum;
      Seconds hold;
      for (std::size_t i = at; i < at + count; ++i) {
        now = std::max(now, arrival(list[i], rank));
        longer = std::max(longer, compute(list[i]));
        sum += compute(list[i]);
        if (costs_.transfers == TransferMode::kBlocking && leaves(list[i], rank)) {
          hold = std::max(hold, transfer(list[i]));
        }
      }
      now += (count == 1 ? sum : std::max(longer, costs_.overlap * sum)) + hold;
      for (std::size_t i = at; i < at + count; ++i) {
        if (list[i].kind != kW) {
          const auto [found, fresh] = done_.try_emplace(
              {list[i].kind == kF, list[i].stage, list[i].microbatch}, Done{now, rank});
          moved = moved || fresh || found->second.end < now;
          found->second.end = now;
        }
      }
      at += count;
    }
    moved = moved || last_ < now;
    last_ = std::max(last_, now);
    return moved;
  }

  const ActionTable& table_;
  const OwnedCosts& costs_;
  std::map<Key, Done> done_;
  Seconds last_;
};

RC_GTEST_PROP(SimulationLaws, AgreesWithRelaxationOfTheWaits, ()) {
  const ScheduleShape shape = random_shape();
  const ActionTable table = *action_table(shape);
  const OwnedCosts costs = random_costs(table.stages);
  RC_ASSERT(near(makespan(*compiled(table), costs.view()), Relaxation(table, costs).makespan()));
}

RC_GTEST_PROP(SimulationLaws, RanksAreBusySendingOrIdleAndNoneBeyondTheMakespan, ()) {
  const ScheduleShape shape = random_shape();
  const CompiledTable table = compiled_table(shape);
  const OwnedCosts costs = random_costs(table.stages);
  Workspace work;
  const PipelineTime time = simulate(table, costs.view(), work);
  RC_ASSERT(time.ranks.size() == static_cast<std::size_t>(shape.pp));
  for (const RankTime& rank : time.ranks) {
    RC_ASSERT(rank.idle >= Seconds());
    RC_ASSERT(near(rank.busy + rank.sending + rank.idle, time.makespan));
  }
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    RC_ASSERT(work.starts[step] <= work.ends[step + 1]);
    RC_ASSERT(work.starts[step] >= work.ends[table.steps[step].after]);
  }
}

RC_GTEST_PROP(SimulationLaws, MoreCostIsNeverFaster, ()) {
  const CompiledTable table = compiled_table(random_shape());
  OwnedCosts costs = random_costs(table.stages);
  const Seconds before = makespan(table, costs.view());
  const auto stage = static_cast<std::size_t>(*rc::gen::inRange<std::int64_t>(0, table.stages));
  costs.stages[stage].forward += random_time();
  costs.stages[stage].backward += random_time();
  costs.stages[stage].input_gradient += random_time();
  costs.stages[stage].weight_gradient += random_time();
  if (stage > 0) {
    costs.forward_transfer[stage - 1] += random_time();
    costs.backward_transfer[stage - 1] += random_time();
  }
  RC_ASSERT(makespan(table, costs.view()) >= before);
}

RC_GTEST_PROP(SimulationLaws, BlockingIsNeverFasterThanOverlapped, ()) {
  const CompiledTable table = compiled_table(random_shape());
  OwnedCosts costs = random_costs(table.stages);
  costs.transfers = TransferMode::kOverlapped;
  const Seconds overlapped = makespan(table, costs.view());
  costs.transfers = TransferMode::kBlocking;
  RC_ASSERT(makespan(table, costs.view()) >= overlapped);
}

RC_GTEST_PROP(SimulationLaws, EqualScalesScaleTheMakespan, ()) {
  const CompiledTable table = compiled_table(random_shape());
  OwnedCosts costs = random_costs(table.stages);
  costs.forward_transfer.clear();
  costs.backward_transfer.clear();
  const Seconds before = makespan(table, costs.view());
  costs.scale.assign(static_cast<std::size_t>(table.microbatches), 3.0);
  RC_ASSERT(near(makespan(table, costs.view()), 3.0 * before));
}

RC_GTEST_PROP(SimulationLaws, AWorkspaceThatHasSeenLargerNeitherAllocatesNorMatters, ()) {
  const ScheduleShape shape = random_shape();
  const CompiledTable table = compiled_table(shape);
  const OwnedCosts costs = random_costs(table.stages);
  Workspace work;
  static const CompiledTable kLarger = compiled_table({Schedule::kInterleavedZeroBubble, 8, 8, 64});
  const OwnedCosts larger_costs = equal_costs(64, split_costs(1_s, 1_s, 1_s));
  simulate(kLarger, larger_costs.view(), work);
  const double* const ends = work.ends.data();
  const double* const waits = work.waits.data();
  RC_ASSERT(simulate(table, costs.view(), work).makespan == makespan(table, costs.view()));
  RC_ASSERT(ends == work.ends.data());
  RC_ASSERT(waits == work.waits.data());
}

}  // namespace
}  // namespace sextant::schedule
