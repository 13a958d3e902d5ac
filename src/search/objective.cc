#include "search/objective.h"

#include <algorithm>

#include "search/leaf.h"

namespace sextant::search {
namespace {

// Slower than the fastest by so much: what least memory may cost, and how far a front is of use.
constexpr double kMemoryWithin = 0.05;
constexpr double kFrontWithin = 0.30;

}  // namespace

FindOptions find_options(Objective objective, const machine::StepMachine& machine,
                         const Effort& effort, bool front) {
  FindOptions options;
  options.threads = effort.threads;
  options.stop = effort.stop;
  if (objective == Objective::kEnergy && machine.power) {
    options.computing_weight = machine.power->computing_weight();
  }
  if (front) {
    options.front_within = kFrontWithin;
  } else if (objective == Objective::kMemory) {
    options.front_within = kMemoryWithin;
  }
  return options;
}

std::vector<Plan> by_objective(Objective objective, const Found& found) {
  std::vector<Plan> plans = found.plans;
  if (objective == Objective::kMemory && !found.front.empty()) {
    const Seconds last = found.front.front().time.step * (1.0 + kMemoryWithin);
    const auto leanest = std::find_if(found.front.rbegin(), found.front.rend(),
                                      [&](const Plan& plan) { return plan.time.step <= last; });
    const Plan& winner = *leanest;
    std::erase_if(plans, [&](const Plan& plan) { return plan.layout == winner.layout; });
    plans.insert(plans.begin(), winner);
  }
  return plans;
}

std::optional<Plan> fastest_plan(const Problem& problem, const Effort& effort,
                                 const describe::Layout* known) {
  FindOptions options;
  options.top = 1;
  options.threads = effort.threads;
  options.stop = effort.stop;
  Space space(problem);
  Leaf leaf(problem);
  if (known != nullptr && space.holds(*known) && leaf.fits(*known)) {
    const cost::RankMemory memory = leaf.memory(*known);
    options.known = Plan{*known, leaf.time(*known), memory.least, memory.device};
  }
  const Found found = find_plans(space, options);
  if (!found.complete || found.plans.empty()) {
    return std::nullopt;
  }
  return found.plans.front();
}

}  // namespace sextant::search
