#include "step/pipeline_table.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "step/keep_limits.h"

namespace sextant::step {
namespace {

using schedule::ActionKind;
using schedule::CompiledTable;

// What begins at this number of an array: places are kept as a processor adds them up.
template <class T>
const T& begins_at(const void* numbers, std::uint32_t place) {
  const auto* const at = static_cast<const double*>(numbers) + place;
  return *static_cast<const T*>(__builtin_assume_aligned(at, alignof(T)));
}
template <class T>
T& begins_at(void* numbers, std::uint32_t place) {
  auto* const at = static_cast<double*>(numbers) + place;
  return *static_cast<T*>(__builtin_assume_aligned(at, alignof(T)));
}

// Steps by when they would start if each took as long: what they wait for still comes first, and
// neighbours are steps of different ranks, which a processor can run side by side.
std::vector<std::uint32_t> order_of(const CompiledTable& table) {
  const std::vector<schedule::StageCosts> equal(static_cast<std::size_t>(table.stages),
                                                {1_s, 1_s, 1_s, 1_s, 1_s});
  schedule::PipelineCosts costs;
  costs.stages = equal;
  schedule::Workspace workspace;
  schedule::simulate(table, costs, workspace);
  std::vector<std::uint32_t> order(table.steps.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&workspace](std::uint32_t step) {
    return std::pair(workspace.starts[step], step);  // those of one slot stay together
  });
  return order;
}

}  // namespace

std::optional<PipelineTable> PipelineTable::of(const schedule::ScheduleShape& shape,
                                               std::int64_t group) {
  const auto actions = schedule::action_table(shape);
  if (!actions) {
    return std::nullopt;
  }
  const auto compiled = schedule::compiled(*actions);
  if (!compiled) {
    return std::nullopt;
  }
  return PipelineTable(*compiled, group);
}

PipelineTable::PipelineTable(const CompiledTable& table, std::int64_t group) {
  constexpr std::uint32_t kPair = sizeof(Pair) / sizeof(double);
  constexpr std::uint32_t kCost = sizeof(Cost) / sizeof(double);
  const std::vector<std::uint32_t> order = order_of(table);
  std::vector<std::uint32_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<std::uint32_t>(i);
  }
  std::map<Source, std::uint32_t> numbers;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> counts;
  const double part = static_cast<double>(group) / static_cast<double>(table.microbatches);
  steps_.reserve(order.size());
  for (const std::uint32_t from : order) {
    const schedule::Step& step = table.steps[from];
    const Source source{static_cast<std::uint32_t>(step.action.stage), step.action.kind,
                        step.receives, step.sends};
    const auto [at, added] =
        numbers.try_emplace(source, static_cast<std::uint32_t>(sources_.size()));
    if (added) {
      sources_.push_back(source);
    }
    steps_.push_back({.after = step.after == 0 ? 0 : (place[step.after - 1] + 1) * kPair,
                      .cost = at->second * kCost,
                      .rank = step.rank * kPair});
    shared_.push_back(step.action.with_next);
    counts[{step.rank, at->second}] += part;
  }
  if (std::ranges::find(shared_, true) == shared_.end()) {
    shared_.clear();
  }
  for (const auto& [what, times] : counts) {
    shares_.push_back({what.first, what.second, times});
  }
  costs_.resize(sources_.size());
  rank_ends_.resize(static_cast<std::size_t>(table.ranks), Pair{});
  ends_.resize(steps_.size() + 1, Pair{});
  mark_groups(table, place, group);
}

std::size_t PipelineTable::bytes() const {
  return bytes_of(steps_) + bytes_of(marks_) + bytes_of(shares_) + bytes_of(sources_) +
         bytes_of(costs_) + bytes_of(rank_ends_) + bytes_of(ends_) + shared_.capacity() / 8;
}

void PipelineTable::mark_groups(const CompiledTable& table, const std::vector<std::uint32_t>& place,
                                std::int64_t group) {
  const std::int64_t groups = table.microbatches / group;
  if (groups < 3) {
    return;
  }
  marks_.resize(static_cast<std::size_t>(table.ranks));
  for (std::size_t i = 0; i < table.steps.size(); ++i) {
    const schedule::Step& step = table.steps[i];
    const bool back =
        step.action.kind == ActionKind::kBackward || step.action.kind == ActionKind::kInputGradient;
    const std::int64_t in = step.action.microbatch / group;
    Mark& mark = marks_[step.rank];
    // Steps of one rank keep their order, so the last one seen is the last one run.
    if (back && in == groups - 3) {
      mark.earlier = std::max(mark.earlier, place[i]);
    } else if (back && in == groups - 2) {
      mark.later = std::max(mark.later, place[i]);
    }
  }
}

void PipelineTable::lay_out(const schedule::PipelineCosts& given) {
  const bool blocking = given.transfers == schedule::TransferMode::kBlocking;
  // Between a stage and the next.
  const auto down = [&given](std::size_t stage) {
    return stage < given.forward_transfer.size() ? given.forward_transfer[stage].base() : 0.0;
  };
  const auto up = [&given](std::size_t stage) {
    return stage < given.backward_transfer.size() ? given.backward_transfer[stage].base() : 0.0;
  };
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[i];
    const std::size_t stage = source.stage;
    const schedule::StageCosts& cost = given.stages[stage];
    double own = 0.0;
    double sent = 0.0;
    double awaited = 0.0;
    switch (source.kind) {
      case ActionKind::kForward:
        own = cost.forward.base();
        sent = down(stage);
        awaited = stage > 0 ? down(stage - 1) : 0.0;
        break;
      case ActionKind::kBackward:
      case ActionKind::kInputGradient:
        own = (source.kind == ActionKind::kBackward ? cost.backward : cost.input_gradient).base();
        sent = stage > 0 ? up(stage - 1) : 0.0;
        awaited = up(stage);
        break;
      case ActionKind::kWeightGradient:
        own = cost.weight_gradient.base();
        break;
      case ActionKind::kReduceGradient:
        own = cost.reduce_gradient.base();
        break;
    }
    const double held = blocking && source.sends ? sent : 0.0;
    costs_[i] = {Pair{!blocking && source.receives ? awaited : 0.0, 0.0}, Pair{own + held, own}};
  }
}

void PipelineTable::run() {
  Pair* end = ends_.data();
  const void* const ends = end;
  const void* const costs = costs_.data();
  void* const rank_ends = rank_ends_.data();
#pragma GCC unroll 4
  for (const Step& step : steps_) {
    Pair& rank = begins_at<Pair>(rank_ends, step.rank);
    const Cost& cost = begins_at<Cost>(costs, step.cost);
    rank = later(rank, begins_at<Pair>(ends, step.after) + cost.wait) + cost.length;
    *++end = rank;
  }
}

// Two in one slot start when both can, and send at the same time.
void PipelineTable::run_with_shared_slots() {
  constexpr std::uint32_t kPair = sizeof(Pair) / sizeof(double);
  constexpr std::uint32_t kCost = sizeof(Cost) / sizeof(double);
  const auto own = [](const Cost& cost) { return Pair{cost.length[1], cost.length[1]}; };
  for (std::size_t number = 0; number < steps_.size(); ++number) {
    const Step& step = steps_[number];
    const Cost& cost = costs_[step.cost / kCost];
    Pair& rank = rank_ends_[step.rank / kPair];
    Pair start = later(rank, ends_[step.after / kPair] + cost.wait);
    Pair length = cost.length;
    if (shared_[number]) {
      const Step& other = steps_[++number];
      const Cost& others = costs_[other.cost / kCost];
      start = later(start, ends_[other.after / kPair] + others.wait);
      length =
          own(cost) + own(others) + later(cost.length - own(cost), others.length - own(others));
      ends_[number] = start + length;
    }
    rank = start + length;
    ends_[number + 1] = rank;
  }
}

PipelineSpan PipelineTable::span(const schedule::PipelineCosts& costs) {
  lay_out(costs);
  std::ranges::fill(rank_ends_, Pair{});
  if (shared_.empty()) {
    run();
  } else {
    run_with_shared_slots();
  }
  Pair last{};
  for (const Pair& rank : rank_ends_) {
    last = later(last, rank);
  }
  return {Seconds(last[0]), Seconds(last[1])};
}

PipelineSpan PipelineTable::last_group() const {
  Pair most{};
  for (const Mark& mark : marks_) {
    most = later(most, ends_[mark.later + 1] - ends_[mark.earlier + 1]);
  }
  return {Seconds(most[0]), Seconds(most[1])};
}

PipelineSpan PipelineTable::busiest() const {
  PipelineSpan most;
  for (std::size_t i = 0; i < shares_.size();) {
    Pair work{};
    const std::uint32_t rank = shares_[i].rank;
    for (; i < shares_.size() && shares_[i].rank == rank; ++i) {
      work += costs_[shares_[i].cost].length * shares_[i].times;
    }
    // Messages of a shared slot go at the same time: as if they took none.
    most.whole = std::max(most.whole, Seconds(shared_.empty() ? work[0] : work[1]));
    most.quiet = std::max(most.quiet, Seconds(work[1]));
  }
  return most;
}

}  // namespace sextant::step
