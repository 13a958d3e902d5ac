#include "step/step_costs.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sextant::step {
// What neither passes nor idle time hide of messages is exposed; `bare` ones have no passes beside
// them.
StepCosts::BeyondShares StepCosts::add_beyond(const AxisTimes& all, const AxisTimes& bare,
                                              const Behind& behind, OnceTerms& terms) {
  const Seconds total = all.total();
  const Seconds beyond =
      total > Seconds() ? std::max(behind.end, total - behind.passes) : Seconds();
  const Seconds left = beyond + bare.total();
  const double waits = left > Seconds() ? std::max(Seconds(), left - behind.idle) / left : 0.0;
  const double share = total > Seconds() ? beyond / total * waits : 0.0;
  terms.exposed += all * share;
  terms.hidden += all * (1.0 - share);
  terms.exposed += bare * waits;
  terms.hidden += bare * (1.0 - waits);
  return {share, waits};
}

std::size_t StepCosts::slowest_ranks() const {
  const std::vector<StagePlan::Ranks>& all = parts_.plan().ranks;
  std::size_t slowest = 0;
  Seconds most = -1_s;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Seconds microbatch;
    for (const std::uint16_t kind : all[i].kinds) {
      microbatch += kinds_[kind].forward + kinds_[kind].backward;
    }
    if (microbatch > most) {
      slowest = i;
      most = microbatch;
    }
  }
  return slowest;
}

StepCosts::RankCost StepCosts::rank_cost(const StagePlan::Ranks& ranks) const {
  RankCost rank;
  for (const std::uint16_t kind : ranks.kinds) {
    const StageCost& stage = kinds_[kind].cost;
    rank.forward += kinds_[kind].forward;
    rank.backward += kinds_[kind].backward;
    rank.sent += stage.send_forward + stage.send_backward;
    for (const PassCost* pass : {&stage.forward, &stage.backward}) {
      rank.compute += pass->compute + pass->slowed;
      rank.slowed += pass->slowed;
      rank.host += pass->wait();
      rank.exposed += pass->exposed;
      rank.hidden += pass->hidden;
    }
  }
  return rank;
}

std::optional<PipelineSpan> StepCosts::pipeline_span() {
  const StagePlan& plan = parts_.plan();
  const std::size_t stages = plan.kind_of.size();
  costs_.resize(stages);
  forward_.resize(stages);
  backward_.resize(stages);
  bool hidden = true;
  for (std::size_t i = 0; i < stages; ++i) {
    const KindCost& kind = kinds_[plan.kind_of[i]];
    const Seconds weights = kind.cost.weight_part();
    costs_[i] = {kind.forward, kind.backward, kind.backward - weights, weights, Seconds()};
    hidden = hidden && kind.cost.sends_hidden;
    forward_[i] = kind.cost.send_forward;
    if (i > 0) {
      backward_[i - 1] = kind.cost.send_backward;
    }
  }
  schedule::PipelineCosts costs;
  costs.stages = costs_;
  costs.forward_transfer = {forward_.data(), stages - 1};
  costs.backward_transfer = {backward_.data(), stages - 1};
  costs.transfers =
      hidden ? schedule::TransferMode::kOverlapped : schedule::TransferMode::kBlocking;
  return clock_.span(costs, parts_.layout(), parts_.shard().microbatches);
}

void StepCosts::add_pipeline(Passes& passes) {
  if (parts_.layout().pp == 1) {
    return;  // nothing to fill
  }
  const auto microbatches = static_cast<double>(parts_.shard().microbatches);
  const Seconds busy = (passes.rank.forward + passes.rank.backward) * microbatches;
  if (const auto span = pipeline_span()) {
    passes.bubble = std::max(Seconds(), span->quiet - busy);
    passes.between = std::max(Seconds(), span->whole - span->quiet);
    return;
  }
  passes.simulated = false;
  // As many microbatches as the ranks before and after need to fill and drain.
  const StagePlan& plan = parts_.plan();
  const auto slowest = static_cast<std::size_t>(plan.ranks[passes.slowest].first);
  for (std::size_t i = 0; i < plan.rank_of.size(); ++i) {
    if (i != slowest) {
      const RankCost rank = rank_cost(plan.ranks[plan.rank_of[i]]);
      passes.bubble += rank.forward + rank.backward;
    }
  }
}

void StepCosts::price_kinds() {
  const std::vector<workload::Stage>& kinds = parts_.plan().kinds;
  if (kinds_.size() < kinds.size()) {
    kinds_.resize(kinds.size());
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    KindCost& kind = kinds_[i];
    kind.cost = parts_.pass_cost(kinds[i]);
    kind.forward = kind.cost.forward.total();
    kind.backward = kind.cost.backward.total();
  }
}

StepCosts::Passes StepCosts::passes() {
  price_kinds();
  Passes passes;
  passes.slowest = slowest_ranks();
  passes.rank = rank_cost(parts_.plan().ranks[passes.slowest]);
  add_pipeline(passes);
  add_ranks(passes);
  add_bounds(passes);
  return passes;
}

void StepCosts::add_bounds(Passes& passes) const {
  const StagePlan& plan = parts_.plan();
  passes.least_compute = passes.rank.compute;
  Seconds all;
  for (std::size_t i = 0; i < plan.ranks.size(); ++i) {
    Seconds compute;
    for (const std::uint16_t kind : plan.ranks[i].kinds) {
      compute += kinds_[kind].cost.forward.compute + kinds_[kind].cost.backward.compute;
    }
    passes.least_compute = std::min(passes.least_compute, compute);
    all += compute * static_cast<double>(std::count(plan.rank_of.begin(), plan.rank_of.end(), i));
  }
  passes.mean_compute = all / static_cast<double>(plan.rank_of.size());
}

// Of a rank's first stage: its first forward waits for those of the ranks before it, and after its
// last backward theirs follow. A schedule that leaves weights for the end, or runs both ways, keeps
// all ranks busy to it.
void StepCosts::add_ranks(Passes& passes) const {
  const StagePlan& plan = parts_.plan();
  const describe::Schedule schedule = parts_.layout().schedule;
  const bool drains = schedule == describe::Schedule::k1f1b ||
                      schedule == describe::Schedule::kGpipe ||
                      schedule == describe::Schedule::kInterleaved1f1b ||
                      schedule == describe::Schedule::kLoopedBfs;
  Seconds begins;
  Seconds ends;
  std::int64_t rank = 0;
  for (const StagePlan::Ranks& ranks : plan.ranks) {
    for (; rank < ranks.first; ++rank) {
      const KindCost& before = kinds_[plan.kind_of[static_cast<std::size_t>(rank)]];
      begins += before.forward;
      ends += before.backward;
    }
    RankPasses& own = passes.ranks.emplace_back();
    own.begins = schedule == describe::Schedule::kDualPipe ? Seconds() : begins;
    own.ends = drains ? ends : Seconds();
    for (const std::uint16_t kind : ranks.kinds) {
      own.forward += kinds_[kind].forward;
      own.backward += kinds_[kind].backward;
    }
  }
}

RankOnce StepCosts::once_beside(const StagePlan::Ranks& ranks) {
  RankOnce all;
  for (std::size_t i = 0; i < ranks.kinds.size(); ++i) {
    all += parts_.once_beside(ranks.once[i], kinds_[ranks.kinds[i]].cost);
  }
  return all;
}

double StepCosts::hiding() const {
  return parts_.model().facts.hiding_compute.value *
         hiding_microbatches(parts_.layout(), parts_.shard().microbatches);
}

StepCosts::OnceTerms StepCosts::once_terms(const RankOnce& once, const RankPasses& passes,
                                           double hiding) const {
  OnceTerms terms;
  terms.exposed = once.around_update;
  terms.reduced = add_beyond(once.reduced, once.reduced_bare,
                             {passes.backward * hiding, once.reduced_last, passes.ends}, terms);
  terms.gathered = add_beyond(once.gathered, once.gathered_bare,
                              {passes.forward * hiding, once.gathered_first, passes.begins}, terms);
  terms.update = std::max(once.update.device, once.update.host);
  terms.update_wait = terms.update - once.update.device;
  return terms;
}

// The step ends with the rank that is through last.
StepCosts::Updates StepCosts::add_once(const Passes& passes, StepTerms& terms) {
  const std::vector<StagePlan::Ranks>& all = parts_.plan().ranks;
  const std::vector<RankOnce>* const apart = parts_.passes_apart() ? &parts_.rank_onces() : nullptr;
  const double share = hiding();
  OnceTerms longest;
  Seconds most = -1_s;
  Updates updates{Seconds(std::numeric_limits<double>::infinity()), Seconds()};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const OnceTerms once =
        once_terms(apart != nullptr ? (*apart)[i] : once_beside(all[i]), passes.ranks[i], share);
    updates.shortest = std::min(updates.shortest, once.update);
    updates.longest = std::max(updates.longest, once.update);
    if (const Seconds time = once.exposed.total() + once.update; time > most) {
      most = time;
      longest = once;
      terms.once_rank = all[i].first;
    }
  }
  terms.exposed += longest.exposed;
  terms.hidden += longest.hidden;
  terms.update = longest.update;
  return updates;
}

const StepCosts::Passes& StepCosts::found_passes() {
  const LayoutParts::PassKey& key = parts_.pass_key();
  return parts_.passes_apart() ? passes_.get(key.hash(), key, [this] { return passes(); }).value
                               : (beside_ = passes());
}

StepTerms StepCosts::terms(const describe::Layout& layout) {
  // Step 1. The slowest rank's microbatches, and the pipeline around them.
  parts_.enter(layout);
  const Passes& all = found_passes();
  const StagePlan::Ranks& slowest = parts_.plan().ranks[all.slowest];
  const auto microbatches = static_cast<double>(parts_.shard().microbatches);
  StepTerms terms;
  terms.slowest_rank = slowest.first;
  terms.bubble = all.bubble;
  terms.compute = all.rank.compute * microbatches;
  terms.slowed = all.rank.slowed * microbatches;
  terms.host = all.rank.host * microbatches;
  terms.exposed = all.rank.exposed * microbatches;
  terms.exposed[Axis::kPipeline] += all.between;
  terms.hidden = all.rank.hidden * microbatches;
  terms.hidden[Axis::kPipeline] += std::max(Seconds(), all.rank.sent * microbatches - all.between);
  // Step 2. Once a step.
  const Updates updates = add_once(all, terms);
  const describe::StepFacts& facts = parts_.model().facts;
  // Of compute alone: what hidden messages slow is no other device's fault, and would make a faster
  // link cost something.
  terms.computing = all.mean_compute * microbatches + terms.update;
  uneven_ = (terms.compute - terms.slowed) * facts.uneven.value;
  once_rank_ = terms.once_rank;
  terms.beside = facts.loop.value + uneven_;
  terms.step = terms.compute + terms.host + terms.exposed.total() + terms.bubble + terms.update +
               terms.beside;
  const Seconds through =
      (all.rank.forward + all.rank.backward) * microbatches + all.bubble + all.between;
  hiding_less_ = {through + updates.longest + facts.loop.value +
                      all.least_compute * microbatches * facts.uneven.value,
                  all.mean_compute * microbatches + updates.shortest};
  return terms;
}

std::vector<StageCost> StepCosts::stages() {
  price_kinds();
  const StagePlan& plan = parts_.plan();
  std::vector<StageCost> list;
  for (std::size_t i = 0; i < plan.kind_of.size(); ++i) {
    StageCost stage = kinds_[plan.kind_of[i]].cost;
    static_cast<OnceCost&>(stage) = parts_.passes_apart()
                                        ? parts_.once_cost(plan.once_of[i])
                                        : parts_.once_beside(plan.once_of[i], stage);
    list.push_back(stage);
  }
  return list;
}

void StepCosts::record_once(const Passes& all, StepRecord& record) {
  const StagePlan& plan = parts_.plan();
  const std::size_t ranks = plan.rank_of[static_cast<std::size_t>(record.once_rank)];
  const OnceTerms once = once_terms(
      parts_.passes_apart() ? parts_.rank_onces()[ranks] : once_beside(plan.ranks[ranks]),
      all.ranks[ranks], hiding());
  record.update_wait = once.update_wait;
  for (std::size_t i = 0; i < plan.once_of.size(); ++i) {
    if (workload::pipeline_rank_of(static_cast<std::int64_t>(i), parts_.layout()) !=
        record.once_rank) {
      continue;
    }
    OnceRecord own = parts_.once_record(plan.once_of[i], plan.kinds[plan.kind_of[i]]);
    own.stage = i;
    for (NotedMessage& noted : own.messages) {
      const bool hides = noted.message.hides == workload::Hides::kNextLayers;
      const workload::Phase phase = noted.message.phase;
      const BeyondShares& shares =
          phase == workload::Phase::kGradient ? once.reduced : once.gathered;
      const bool around = phase != workload::Phase::kGradient && phase != workload::Phase::kGather;
      noted.exposed = noted.all() * (around ? 1.0 : hides ? shares.hideable : shares.bare);
    }
    record.once.push_back(std::move(own));
  }
}

StepRecord StepCosts::record() {
  const Passes& all = found_passes();
  const StagePlan& plan = parts_.plan();
  const describe::StepFacts& facts = parts_.model().facts;
  StepRecord record;
  record.slowest_rank = plan.ranks[all.slowest].first;
  record.once_rank = once_rank_;
  record.between = all.between;
  record.simulated = all.simulated;
  record.loop = facts.loop.value;
  record.uneven = uneven_;
  record.facts = facts;
  record_once(all, record);
  for (std::size_t i = 0; i < plan.kind_of.size(); ++i) {
    if (workload::pipeline_rank_of(static_cast<std::int64_t>(i), parts_.layout()) ==
        record.slowest_rank) {
      record.stages.push_back(parts_.pass_record(plan.kinds[plan.kind_of[i]]));
      record.stages.back().stage = i;
    }
  }
  return record;
}

}  // namespace sextant::step
