#include "measured/pipeline_actions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::measured {

namespace {

constexpr std::string_view kReduce = "REDUCE_GRAD";
constexpr std::string_view kOverlap = "OVERLAP_F_B";

std::optional<PipelineWork> work_of(char letter) {
  switch (letter) {
    case 'F':
      return PipelineWork::kForward;
    case 'B':
      return PipelineWork::kBackward;
    case 'I':
      return PipelineWork::kInputGradient;
    case 'W':
      return PipelineWork::kWeightGradient;
    default:
      return std::nullopt;
  }
}

std::optional<PipelineAction> parse_action(std::string_view text) {
  const std::size_t letter = text.find_first_not_of("0123456789");
  if (letter == 0 || letter == std::string_view::npos) {
    return std::nullopt;
  }
  const auto stage = to_integer(text.substr(0, letter));
  if (!stage) {
    return std::nullopt;
  }
  if (text.substr(letter) == kReduce) {
    return PipelineAction{PipelineWork::kReduceGradient, *stage, 0};
  }
  const auto work = work_of(text[letter]);
  const auto microbatch = to_integer(text.substr(letter + 1));
  if (!work || !microbatch || *microbatch < 0) {
    return std::nullopt;
  }
  return PipelineAction{*work, *stage, *microbatch};
}

double cost_of(PipelineWork work) {
  switch (work) {
    case PipelineWork::kForward:
    case PipelineWork::kInputGradient:
    case PipelineWork::kWeightGradient:
      return 1.0;
    case PipelineWork::kBackward:
      return 2.0;
    case PipelineWork::kReduceGradient:
      return 0.0;
  }
  return 0.0;
}

// When a piece of work was done; B and I share a key, as both give the stage's input gradient.
using Done = std::map<std::tuple<PipelineWork, std::int64_t, std::int64_t>, double>;

PipelineWork done_key(PipelineWork work) {
  return work == PipelineWork::kBackward ? PipelineWork::kInputGradient : work;
}

std::optional<double> done_at(const Done& done, PipelineWork work, std::int64_t stage,
                              std::int64_t microbatch) {
  const auto found = done.find({work, stage, microbatch});
  return found == done.end() ? std::nullopt : std::optional(found->second);
}

// When everything that the action needs is there; nothing while it is not.
std::optional<double> ready_at(const PipelineAction& action, std::int64_t last_stage,
                               const Done& done) {
  const auto of = [&](PipelineWork work, std::int64_t stage) {
    return done_at(done, work, stage, action.microbatch);
  };
  switch (action.work) {
    case PipelineWork::kForward:
      return action.stage == 0 ? 0.0 : of(PipelineWork::kForward, action.stage - 1);
    case PipelineWork::kBackward:
    case PipelineWork::kInputGradient: {
      const auto forward = of(PipelineWork::kForward, action.stage);
      if (action.stage == last_stage || !forward) {
        return forward;
      }
      const auto after = of(PipelineWork::kInputGradient, action.stage + 1);
      return after ? std::optional(std::max(*forward, *after)) : std::nullopt;
    }
    case PipelineWork::kWeightGradient:
      return of(PipelineWork::kInputGradient, action.stage);
    case PipelineWork::kReduceGradient:
      return 0.0;
  }
  return 0.0;
}

struct RankState {
  std::size_t next = 0;
  double time = 0.0;
};

// Runs the rank's next slot if its needs are met; false where it must wait.
bool run_slot(const PipelineSlot& slot, std::int64_t last_stage, RankState& rank, Done& done) {
  double start = rank.time;
  double cost = 0.0;
  for (const PipelineAction& action : slot) {
    const auto ready = ready_at(action, last_stage, done);
    if (!ready) {
      return false;
    }
    start = std::max(start, *ready);
    cost = std::max(cost, cost_of(action.work));
  }
  rank.time = start + cost;
  for (const PipelineAction& action : slot) {
    done[{done_key(action.work), action.stage, action.microbatch}] = rank.time;
  }
  ++rank.next;
  return true;
}

}  // namespace

Result<PipelineSlot> parse_pipeline_slot(std::string_view text, std::string_view where) {
  PipelineSlot slot;
  if (text.empty()) {
    return slot;
  }
  std::string_view list = text;
  const std::size_t close = text.find(')');
  if (text.front() == '(' && close != std::string_view::npos &&
      text.substr(close + 1) == kOverlap) {
    list = text.substr(1, close - 1);
  }
  for (const std::string_view part : split(list, ';')) {
    const auto action = parse_action(part);
    if (!action) {
      return invalid(fmt::format("\"{}\" is no pipeline action", printable(text)),
                     std::string(where), "2F5, 2B5, 2I5, 2W5, 2REDUCE_GRAD, (2F3;1B1)OVERLAP_F_B");
    }
    slot.push_back(*action);
  }
  return slot;
}

Result<double> pipeline_makespan(const std::vector<std::vector<PipelineSlot>>& ranks,
                                 std::string_view name, std::string_view where) {
  std::int64_t last_stage = 0;
  for (const std::vector<PipelineSlot>& slots : ranks) {
    for (const PipelineSlot& slot : slots) {
      for (const PipelineAction& action : slot) {
        last_stage = std::max(last_stage, action.stage);
      }
    }
  }
  std::vector<RankState> states(ranks.size());
  Done done;
  bool moved = true;
  while (moved) {
    moved = false;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      while (states[rank].next < ranks[rank].size() &&
             run_slot(ranks[rank][states[rank].next], last_stage, states[rank], done)) {
        moved = true;
      }
    }
  }
  double makespan = 0.0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (states[rank].next < ranks[rank].size()) {
      return invalid(fmt::format("rank {} of schedule \"{}\" waits for ever at slot {}", rank,
                                 printable(name), states[rank].next),
                     std::string(where));
    }
    makespan = std::max(makespan, states[rank].time);
  }
  return makespan;
}

}  // namespace sextant::measured
