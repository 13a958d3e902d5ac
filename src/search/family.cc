#include "search/family.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace sextant::search {
namespace {

using describe::Layout;
using describe::Overlap;
using describe::Recompute;
using describe::Schedule;
using describe::Zero;

// All that a layout of the problem may hide of a microbatch's messages.
std::vector<Overlap> hides_most(const Choices& choices) {
  std::vector<Overlap> all = choices.always;
  all.insert(all.end(), choices.switches.begin(), choices.switches.end());
  const bool dual =
      std::any_of(choices.schedules.begin(), choices.schedules.end(), [](Schedule schedule) {
        return schedule == Schedule::kDualPipe || schedule == Schedule::kDualPipeV;
      });
  if (dual) {
    all.push_back(Overlap::kExpert);  // whatever the switch says
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// May messages of data parallelism lie inside the passes of a microbatch?
bool data_inside(const Problem& problem, const Choices& choices) {
  describe::Job job = problem.job;
  return std::any_of(choices.zero.begin(), choices.zero.end(), [&](Zero zero) {
    job.layout.zero = zero;
    const workload::Shard shard;
    const workload::Routing even;
    return !step::once_apart(workload::scene_of(job, job.layout, shard, even));
  });
}

// What is hidden inside the passes of a microbatch, a bit each.
std::size_t inside_passes(const std::vector<Overlap>& hidden) {
  std::size_t bits = 0;
  for (const Overlap what : hidden) {
    if (what != Overlap::kGradReduce && what != Overlap::kParamGather) {
      bits |= std::size_t{1} << (static_cast<unsigned>(what) - 2U);
    }
  }
  return bits;
}
static_assert(static_cast<int>(Overlap::kTensorParallel) == 2 &&
              static_cast<int>(Overlap::kContext) == 5);

double count_of(const std::vector<SwitchGroup>& groups) {
  return std::accumulate(groups.begin(), groups.end(), 0.0,
                         [](double sum, const SwitchGroup& group) { return sum + group.count; });
}

}  // namespace

Explorer::Explorer(const Space& space)
    : space_(space),
      leaf_(space.problem()),
      passes_alone_(data_inside(space.problem(), space.choices())),
      hides_most_(hides_most(space.choices())) {}

double Explorer::share(const Shape& shape) const {
  const describe::Job& job = space_.problem().job;
  return static_cast<double>(job.global_batch) * static_cast<double>(shape.tp * shape.cp) /
         (static_cast<double>(job.cluster.devices) * static_cast<double>(shape.mbs));
}

Seconds Explorer::compute_floor(const Shape& shape) {
  Layout layout = space_.layout_of(shape, space_.variants(shape).front());
  Seconds least = leaf_.compute_floor(layout);
  for (const Zero zero : space_.choices().zero) {
    if (passes_alone_) {
      layout.zero = zero;
      least = std::min(least, leaf_.compute_floor(layout));
    }
  }
  return least * share(shape) + space_.problem().machine.facts.loop.value;
}

const step::StepFloor& Explorer::floor_of(const Layout& layout, std::size_t policy,
                                          const std::vector<Overlap>& hidden) {
  std::optional<step::StepFloor>& floor = floors_[policy][inside_passes(hidden)];
  if (!floor) {
    const auto& policies = space_.choices().recompute;
    Layout at = layout;
    Space::set({1, 1, Schedule::k1f1b, space_.choices().orders.front()}, at);
    at.split = {};
    at.zero = Zero::kNone;
    at.zero_group = 0;
    at.overlap = hidden;
    at.recompute = policy < policies.size() && !workload::counts_layers(policies[policy])
                       ? policies[policy]
                       : describe::RecomputePolicy();
    floor = leaf_.floor(at, passes_alone_);
    // What accumulates gradients, and where, goes by the sharding.
    for (const Zero zero : space_.choices().zero) {
      if (passes_alone_) {
        at.zero = zero;
        floor->lower_to(leaf_.floor(at, passes_alone_));
      }
    }
  }
  return *floor;
}

void Explorer::try_some(const Shape& shape, BestPlans& best) {
  constexpr std::int64_t kChunks = 2;
  for (const Variant& variant : space_.variants(shape)) {
    Layout layout = space_.layout_of(shape, variant);
    for (const Pipeline& pipeline : space_.pipelines(layout)) {
      if (pipeline.vpp <= kChunks && pipeline.order == space_.choices().orders.front()) {
        Space::set(pipeline, layout);
        layout.split = space_.splits(layout.stages()).front();
        try_policies(layout, best);
      }
    }
  }
}

// The first of the lean policies that fits.
void Explorer::try_policies(Layout& layout, BestPlans& best) {
  for (const SwitchGroup& group : space_.switches(layout)) {
    const Sharding& sharding = group.shardings.front();
    layout.recompute = group.recompute;
    space_.set(sharding, layout);
    layout.overlap = sharding.hidden.front();
    if (group.lean && leaf_.fits(layout)) {
      const cost::RankMemory memory = leaf_.memory(layout);
      best.add({layout, leaf_.time(layout), memory.least, memory.device});
      return;
    }
  }
}

void Explorer::explore(const Shape& shape, Seconds compute_floor, BestPlans& best,
                       Settled& settled) {
  fits_.clear();
  too_large_.clear();
  for (const Variant& variant : space_.variants(shape)) {
    const Layout layout = space_.layout_of(shape, variant);
    const double all = space_.count(layout);
    settled.possible += all;
    if (all == 0.0) {
      continue;
    }
    if (compute_floor >= best.bound()) {
      settled.too_slow += all;
      continue;
    }
    if (is_too_large(layout)) {
      settled.too_large += all;
      continue;
    }
    floors_.assign(space_.choices().recompute.size() + 1, {});
    if (floor_of(layout, space_.choices().recompute.size(), hides_most_)
            .step(share(shape), space_.problem().machine.facts) >= best.bound()) {
      settled.too_slow += all;
      continue;
    }
    explore(layout, best, settled);
  }
}

std::int64_t Explorer::microbatches(const Layout& layout) const {
  const describe::Job& job = space_.problem().job;
  return job.global_batch * layout.tp * layout.cp * layout.pp / (job.cluster.devices * layout.mbs);
}

void Explorer::explore(const Layout& layout, BestPlans& best, Settled& settled) {
  const std::size_t none = space_.choices().recompute.size();
  const std::vector<Pipeline> pipelines = space_.pipelines(layout);
  Layout at = layout;
  cuts_.clear();
  for (std::size_t i = 0; i < pipelines.size(); ++i) {
    Space::set(pipelines[i], at);
    if (is_too_large(at, space_.switches(at))) {
      settled.too_large +=
          count_of(space_.switches(at)) * static_cast<double>(space_.splits(at.stages()).size());
      continue;
    }
    const auto& held = space_.held(at.stages());
    const step::StepFloor& floor = floor_of(at, none, hidden_in(at, space_.switches(at).front()));
    for (std::size_t split = 0; split < held.size(); ++split) {
      cuts_.push_back({pipeline_floor_.of(pipelines[i], held[split], microbatches(at), floor,
                                          space_.problem().machine.facts),
                       i, split});
    }
  }
  std::stable_sort(cuts_.begin(), cuts_.end(),
                   [](const Cut& a, const Cut& b) { return a.floor < b.floor; });
  for (const Cut& cut : cuts_) {
    Space::set(pipelines[cut.pipeline], at);
    at.split = space_.splits(at.stages())[cut.split];
    if (cut.floor < best.bound(at)) {
      explore_cut(at, pipelines[cut.pipeline], cut.split, best, settled);
      continue;
    }
    settled.too_slow += count_of(space_.switches(at));
  }
}

// The most that a layout of the group hides. DualPipe hides experts' messages, asked to or not.
const std::vector<Overlap>& Explorer::hidden_in(const Layout& layout, const SwitchGroup& group) {
  const std::vector<Overlap>& most = group.shardings.front().hidden.front();
  const bool dual =
      layout.schedule == Schedule::kDualPipe || layout.schedule == Schedule::kDualPipeV;
  constexpr unsigned kExperts = 1U << static_cast<unsigned>(Overlap::kExpert);
  return dual ? hidden_set(static_cast<std::uint8_t>(bits_of(most) | kExperts)) : most;
}

Seconds Explorer::floor_of(const SwitchGroup& group, const Pipeline& pipeline,
                           const std::vector<std::int64_t>& held, const Layout& layout) {
  const std::size_t none = space_.choices().recompute.size();
  const step::StepFloor& floor =
      floor_of(layout, std::min(group.policy, none), hidden_in(layout, group));
  return pipeline_floor_.of(pipeline, held, microbatches(layout), floor,
                            space_.problem().machine.facts);
}

bool Explorer::knows_floor(const SwitchGroup& group, const Layout& layout) const {
  return floors_[std::min(group.policy, space_.choices().recompute.size())]
                [inside_passes(hidden_in(layout, group))]
                    .has_value();
}

void Explorer::explore_cut(Layout& layout, const Pipeline& pipeline, std::size_t split,
                           BestPlans& best, Settled& settled) {
  const std::vector<SwitchGroup>& groups = space_.switches(layout);
  const std::vector<std::int64_t>& held = space_.held(layout.stages())[split];
  std::array<std::optional<bool>, kShardingKinds> may_fit;
  unfit_.clear();
  order_.clear();
  // Sets of modules stand after their subsets.
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    const bool slow = knows_floor(*group, layout) &&
                      floor_of(*group, pipeline, held, layout) >= best.bound(layout);
    for (const Sharding& sharding : group->shardings) {
      const auto number = static_cast<double>(sharding.hidden.size());
      std::optional<bool>& possible = may_fit[kind_of(sharding)];
      if (!possible) {
        possible = fits_at_all(layout, groups, split, sharding);
      }
      if (!*possible || is_known_unfit(*group, sharding)) {
        settled.too_large += number;
      } else if (slow) {
        settled.too_slow += number;
      } else if (fits_with(layout, *group, split, sharding)) {
        order_.push_back({Seconds(), &*group, &sharding});
      } else {
        settled.too_large += number;
        note_unfit(*group, sharding);
      }
    }
  }
  for (Choice& choice : order_) {
    choice.floor = floor_of(*choice.group, pipeline, held, layout);
  }
  std::stable_sort(order_.begin(), order_.end(),
                   [](const Choice& a, const Choice& b) { return a.floor < b.floor; });
  for (const Choice& choice : order_) {
    if (choice.floor >= best.bound(layout)) {
      settled.too_slow += static_cast<double>(choice.sharding->hidden.size());
      continue;
    }
    layout.recompute = choice.group->recompute;
    space_.set(*choice.sharding, layout);
    time_all(layout, *choice.sharding, best, settled);
  }
}

void Explorer::time_all(Layout& layout, const Sharding& sharding, BestPlans& best,
                        Settled& settled) {
  Seconds least;
  for (std::size_t i = 0; i < sharding.hidden.size(); ++i) {
    if (i > 0 && least >= best.bound(layout)) {
      settled.hides_less += 1.0;
      continue;
    }
    layout.overlap = sharding.hidden[i];
    const step::StepTerms time = leaf_.time(layout);
    settled.timed += 1.0;
    if (i == 0) {
      least = leaf_.hiding_less();
    }
    if (time.step < best.bound(layout)) {
      const cost::RankMemory memory = leaf_.memory(layout);
      best.add({layout, time, memory.least, memory.device});
    }
  }
}

}  // namespace sextant::search
