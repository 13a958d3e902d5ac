#include "search/family.h"

#include <algorithm>
#include <array>

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

// Which policy computes whole layers again, all of them; their number where none does.
std::size_t whole_policy(const Choices& choices) {
  const auto whole = std::ranges::find_if(choices.recompute, [](const auto& policy) {
    return policy.granularity == describe::Recompute::kFull && !workload::counts_layers(policy);
  });
  return static_cast<std::size_t>(whole - choices.recompute.begin());
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

}  // namespace

Explorer::Explorer(const Space& space, const FindOptions& options)
    : space_(space),
      weight_(options.computing_weight),
      leaf_(space.problem()),
      whole_(whole_policy(space.choices())),
      passes_alone_(data_inside(space.problem(), space.choices())),
      hides_most_(hides_most(space.choices())),
      floors_((space.choices().recompute.size() + 1) * kInnerOrders) {}

bool Explorer::may_be_simplest(const Layout& layout, Seconds floor, BestPlans& best,
                               bool switched) {
  const auto& asked = best.simplest();
  if (!asked || !best.is_near(floor)) {
    return false;
  }
  const Simplicity& measure = *asked->measure;
  return best.may_be_simplest(floor, measure.of_mesh(layout).total() +
                                         (switched ? measure.of_switches(layout).total() : 0));
}

bool Explorer::may_matter(Layout& layout, const Choice& choice, Seconds floor,
                          BestPlans& best) const {
  if (floor < best.bound(layout)) {
    return true;
  }
  if (!best.is_near(floor)) {
    return false;
  }
  layout.recompute = choice.group->recompute;
  space_.set(*choice.sharding, layout);
  layout.overlap.clear();  // what hides less may have fewer points
  return may_be_simplest(layout, floor, best, true);
}

double Explorer::share(const Shape& shape) const {
  const describe::Job& job = space_.problem().job;
  return static_cast<double>(job.global_batch) * static_cast<double>(shape.tp * shape.cp) /
         (static_cast<double>(job.cluster.devices) * static_cast<double>(shape.mbs));
}

Seconds Explorer::compute_floor(const Shape& shape) {
  Layout layout = space_.layout_of(shape, space_.variants(shape).front());
  Seconds least = step::StepFloors::kNever;
  const auto see = [&] {
    layout.zero = Zero::kNone;
    least = std::min(least, leaf_.compute_floor(layout));
    for (const Zero zero : space_.choices().zero) {
      if (passes_alone_) {
        layout.zero = zero;
        least = std::min(least, leaf_.compute_floor(layout));
      }
    }
  };
  // Who sends tokens says which kernels sort them.
  for (const describe::Launch launch : space_.choices().launches) {
    for (const auto dispatcher : if_it_matters(space_.choices().dispatchers, shape.ep > 1)) {
      layout.launch = launch;
      layout.dispatcher = dispatcher;
      see();
    }
  }
  return least * (share(shape) * (1.0 + weight_)) + space_.problem().machine.facts.loop.value;
}

// The mean of pp ranks computes microbatches / pp times what a microbatch takes in all layers.
Seconds Explorer::value_floor(Seconds step, const step::StepFloor& floor,
                              const Layout& layout) const {
  const Shape shape{layout.tp, layout.cp, layout.ep, layout.etp, layout.mbs};
  return step + floor.compute * (share(shape) * weight_);
}

Seconds Explorer::cut_floor(const Pipeline& pipeline, const std::vector<std::int64_t>& held,
                            const step::StepFloor& floor, const Layout& layout) {
  return value_floor(pipeline_floor_.of({pipeline, held, microbatches(layout)}, floor,
                                        floor.compute_share, space_.problem().machine.facts),
                     floor, layout);
}

const step::StepFloor& Explorer::floor_of(const Layout& layout, std::size_t policy,
                                          const std::vector<Overlap>& hidden, Seconds enough) {
  Floor& known = floors_[policy * kInnerOrders + inner_order(layout)][inside_passes(hidden)];
  if (known.layout == layouts_) {
    return known.floor;
  }
  const auto& policies = space_.choices().recompute;
  Layout at = layout;
  Space::set({1, 1, Schedule::k1f1b,
              inner_order(layout) == 0 ? space_.choices().orders.front() : layout.order},
             at);
  at.split = {};
  at.zero = Zero::kNone;
  at.zero_group = 0;
  at.overlap = hidden;
  at.recompute = policy < policies.size() && !workload::counts_layers(policies[policy])
                     ? policies[policy]
                     : describe::RecomputePolicy();
  known.layout = 0;
  if (!passes_alone_) {
    leaf_.floor(at, false, enough, known.floor);
    known.layout = known.floor.microbatch < enough ? layouts_ : 0;
    return known.floor;
  }
  // What accumulates gradients, and where, goes by the sharding.
  leaf_.floor(at, true, step::StepFloors::kNever, known.floor);
  for (const Zero zero : space_.choices().zero) {
    at.zero = zero;
    leaf_.floor(at, true, step::StepFloors::kNever, other_);
    known.floor.lower_to(other_);
  }
  known.layout = layouts_;
  return known.floor;
}

double Explorer::count(const Shape& shape) {
  double all = 0.0;
  for (const Variant& variant : space_.variants(shape)) {
    all += space_.count(space_.layout_of(shape, variant));
  }
  return all;
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
  may_fit_.clear();
  switches_.clear();
  too_large_.clear();
  for (const Variant& variant : space_.variants(shape)) {
    const Layout layout = space_.layout_of(shape, variant);
    const double all = space_.count(layout);
    settled.possible += all;
    if (all == 0.0) {
      continue;
    }
    if (compute_floor >= best.bound() && !may_be_simplest(layout, compute_floor, best)) {
      settled.too_slow += all;
      continue;
    }
    if (is_too_large(layout)) {
      settled.too_large += all;
      continue;
    }
    ++layouts_;
    if (is_too_slow(layout, share(shape), bound_of(layout, best))) {
      settled.too_slow += all;
      continue;
    }
    explore(layout, best, settled);
  }
}

// A layout of the family with this value or more changes nothing.
Seconds Explorer::bound_of(const Layout& layout, BestPlans& best) {
  const auto& asked = best.simplest();
  if (!asked) {
    return best.bound();
  }
  return std::max(best.bound(), best.simple_bound(asked->measure->of_mesh(layout).total()));
}

// Messages inside layers lie alike whether pipeline or data is outermost; on a mesh experts or
// contexts may be instead.
std::size_t Explorer::inner_order(const Layout& layout) {
  switch (layout.order.back()) {
    case describe::Axis::kEp:
      return layout.ep > 1 ? 1 : 0;
    case describe::Axis::kCp:
      return layout.cp > 1 ? 2 : 0;
    case describe::Axis::kTp:
    case describe::Axis::kDp:
    case describe::Axis::kPp:
      break;
  }
  return 0;
}

// In every order of ranks.
bool Explorer::is_too_slow(const Layout& layout, double microbatches, Seconds bound) {
  const auto& orders = space_.choices().orders;
  const Seconds enough = bound / microbatches;
  Layout at = layout;
  std::array<bool, kInnerOrders> seen{};
  return std::all_of(orders.begin(), orders.end(), [&](const auto& order) {
    at.order = order;
    bool& is_seen = seen[inner_order(at)];
    if (is_seen) {
      return true;
    }
    is_seen = true;
    const step::StepFloor& floor =
        floor_of(at, space_.choices().recompute.size(), hides_most_, enough);
    return value_floor(floor.step(microbatches, space_.problem().machine.facts), floor, at) >=
           bound;
  });
}

std::int64_t Explorer::microbatches(const Layout& layout) const {
  const describe::Job& job = space_.problem().job;
  return job.global_batch * layout.tp * layout.cp * layout.pp / (job.cluster.devices * layout.mbs);
}

// Floors of few policies are worth their making; of many, nothing recomputed is below them all.
const step::StepFloor& Explorer::floor_of(const Switches& switches, const Layout& layout) {
  constexpr std::size_t kFew = 4;
  const std::size_t none = space_.choices().recompute.size();
  const std::vector<Overlap>& hidden = hidden_in(layout, switches.groups->front());
  std::array<std::size_t, kFew> policies{};
  std::size_t count = 0;
  for (const Choice& choice : switches.may_fit) {
    const std::size_t policy = std::min(choice.group->policy, none);
    if (std::find(policies.begin(), policies.begin() + count, policy) != policies.begin() + count) {
      continue;
    }
    if (count == kFew || policy == none) {
      return floor_of(layout, none, hidden);
    }
    policies[count++] = policy;
  }
  lowest_ = floor_of(layout, policies.front(), hidden);
  for (std::size_t i = 1; i < count; ++i) {
    lowest_.lower_to(floor_of(layout, policies[i], hidden));
  }
  return lowest_;
}

void Explorer::explore(const Layout& layout, BestPlans& best, Settled& settled) {
  Layout at = layout;
  cuts_.clear();
  lanes_.clear();
  for (const Pipeline& pipeline : space_.pipelines(layout)) {
    Space::set(pipeline, at);
    const Switches& switches = switches_in(at);
    const auto& held = space_.held(at.stages());
    if (switches.may_fit.empty()) {
      settled.too_large += switches.count * static_cast<double>(held.size());
      continue;
    }
    const step::StepFloor& floor = floor_of(switches, at);
    for (std::size_t split = 0; split < held.size(); ++split) {
      cuts_.push_back({cut_floor(pipeline, held[split], floor, at), lanes_.size(), split});
    }
    lanes_.push_back({pipeline, &switches});
  }
  std::stable_sort(cuts_.begin(), cuts_.end(),
                   [](const Cut& a, const Cut& b) { return a.floor < b.floor; });
  for (const Cut& cut : cuts_) {
    const Lane& lane = lanes_[cut.lane];
    settled.too_large += lane.switches->too_large;
    Space::set(lane.pipeline, at);
    at.split = space_.splits(at.stages())[cut.split];
    if (cut.floor < best.bound(at) || may_be_simplest(at, cut.floor, best)) {
      explore_cut(at, lane, cut.split, best, settled);
      continue;
    }
    settled.too_slow += lane.switches->count - lane.switches->too_large;
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

// Where nothing but products hides messages, what a layer takes does not go by its neighbours:
// those that are computed again take as long as where all are.
bool Explorer::knows_parts(const SwitchGroup& group, const Layout& layout) const {
  return group.part && layout.cp == 1 && whole_ < space_.choices().recompute.size();
}

Seconds Explorer::floor_of(const SwitchGroup& group, const Pipeline& pipeline,
                           const std::vector<std::int64_t>& held, const Layout& layout) {
  const std::size_t none = space_.choices().recompute.size();
  const std::vector<Overlap>& hidden = hidden_in(layout, group);
  const step::StepFloor& floor = floor_of(layout, std::min(group.policy, none), hidden);
  if (!knows_parts(group, layout)) {
    return cut_floor(pipeline, held, floor, layout);
  }
  const step::StepFloor& whole = floor_of(layout, whole_, hidden);
  Again again{group.recompute.layers, {step::StepFloors::kNever, step::StepFloors::kNever}};
  for (std::size_t i = 0; i < floor.blocks.size(); ++i) {
    if (floor.blocks[i].both() > Seconds()) {
      const auto more = [&](Seconds step::PassFloor::* pass) {
        return std::max(Seconds(), whole.blocks[i].*pass - floor.blocks[i].*pass);
      };
      again.each.forward = std::min(again.each.forward, more(&step::PassFloor::forward));
      again.each.backward = std::min(again.each.backward, more(&step::PassFloor::backward));
    }
  }
  const double share = std::min(floor.compute_share, whole.compute_share);
  return value_floor(pipeline_floor_.of({pipeline, held, microbatches(layout)}, floor, share,
                                        space_.problem().machine.facts, again),
                     floor, layout);
}

bool Explorer::knows_floor(const SwitchGroup& group, const Layout& layout) const {
  const auto knows = [&](std::size_t policy) {
    return floors_[policy * kInnerOrders + inner_order(layout)]
                  [inside_passes(hidden_in(layout, group))]
                      .layout == layouts_;
  };
  return knows(std::min(group.policy, space_.choices().recompute.size())) &&
         (!knows_parts(group, layout) || knows(whole_));
}

void Explorer::explore_cut(Layout& layout, const Lane& lane, std::size_t split, BestPlans& best,
                           Settled& settled) {
  const std::vector<std::int64_t>& held = space_.held(layout.stages())[split];
  std::array<std::optional<bool>, kShardingKinds> may_fit;
  std::array<std::optional<bool>, kShardingKinds> plain;
  unfit_.clear();
  order_.clear();
  for (const Choice& choice : lane.switches->may_fit) {
    const SwitchGroup& group = *choice.group;
    const Sharding& sharding = *choice.sharding;
    const auto number = static_cast<double>(sharding.hidden.size());
    if (knows_floor(group, layout) &&
        !may_matter(layout, choice, floor_of(group, lane.pipeline, held, layout), best)) {
      settled.too_slow += number;
      continue;
    }
    std::optional<bool>& fits = plain[kind_of(sharding)];
    if (!fits) {
      fits = fits_plain(layout, *lane.switches, split, sharding);
    }
    if (*fits && group.modules) {
      order_.push_back({Seconds(), &group, &sharding});
      continue;
    }
    std::optional<bool>& possible = may_fit[kind_of(sharding)];
    if (!possible) {
      possible = fits_at_all(layout, *lane.switches, split, sharding);
    }
    if (!*possible || is_known_unfit(group, sharding)) {
      settled.too_large += number;
    } else if (fits_with(layout, group, split, sharding)) {
      order_.push_back({Seconds(), &group, &sharding});
    } else {
      settled.too_large += number;
      note_unfit(group, sharding);
    }
  }
  for (Choice& choice : order_) {
    choice.floor = floor_of(*choice.group, lane.pipeline, held, layout);
  }
  std::stable_sort(order_.begin(), order_.end(),
                   [](const Choice& a, const Choice& b) { return a.floor < b.floor; });
  for (const Choice& choice : order_) {
    if (!may_matter(layout, choice, choice.floor, best)) {
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
  const HiddenSets& sets = sharding.hidden;
  least_.clear();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    layout.overlap = sets[i];
    // No faster than any that hides the same and more.
    Seconds least;
    for (const auto& [bits, value] : least_) {
      least = (sets.bits(i) & ~bits) == 0 ? std::max(least, value) : least;
    }
    if (i > 0 && least >= best.bound(layout) && !may_be_simplest(layout, least, best, true)) {
      settled.hides_less += 1.0;
      continue;
    }
    const step::StepTerms time = leaf_.time(layout);
    const Seconds value = time.step + time.computing * weight_;
    settled.timed += 1.0;
    const step::HidingLess& less = leaf_.hiding_less();
    least_.emplace_back(sets.bits(i), less.step + less.computing * weight_);
    if (value < best.bound(layout) || may_be_simplest(layout, value, best, true)) {
      const cost::RankMemory memory = leaf_.memory(layout);
      best.add({layout, time, memory.least, memory.device});
    }
  }
}

}  // namespace sextant::search
