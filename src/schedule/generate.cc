#include "schedule/generate.h"

#include <algorithm>

#include <fmt/format.h>

#include "schedule/families.h"

namespace sextant::schedule {

using describe::Schedule;

namespace {

constexpr std::int64_t kMostStageMicrobatches = 10'000'000;

Actions gpipe_actions(const ScheduleShape& shape, std::int64_t rank) {
  Actions actions;
  for (const ActionKind kind : {ActionKind::kForward, ActionKind::kBackward}) {
    for (std::int64_t microbatch = 0; microbatch < shape.microbatches; ++microbatch) {
      actions.push_back(action(kind, rank, microbatch));
    }
  }
  return actions;
}

Actions one_f_one_b_actions(const ScheduleShape& shape, std::int64_t rank) {
  const std::int64_t warm_up = std::min(shape.microbatches, shape.pp - rank - 1);
  Actions actions;
  for (std::int64_t forward = 0; forward < shape.microbatches + warm_up; ++forward) {
    if (forward < shape.microbatches) {
      actions.push_back(action(ActionKind::kForward, rank, forward));
    }
    if (forward >= warm_up) {
      actions.push_back(action(ActionKind::kBackward, rank, forward - warm_up));
    }
  }
  return actions;
}

// All microbatches through a chunk before the next; backwards in the exact reverse.
Actions looped_bfs_actions(const ScheduleShape& shape, std::int64_t rank) {
  Actions actions;
  for (std::int64_t chunk = 0; chunk < shape.vpp; ++chunk) {
    for (std::int64_t microbatch = 0; microbatch < shape.microbatches; ++microbatch) {
      actions.push_back(action(ActionKind::kForward, chunk * shape.pp + rank, microbatch));
    }
  }
  for (std::size_t forward = actions.size(); forward-- > 0;) {
    const Action done = actions[forward];
    actions.push_back(action(ActionKind::kBackward, done.stage, done.microbatch));
  }
  return actions;
}

std::string words_of(const ScheduleShape& shape) {
  return fmt::format("schedule={} with pp={}, vpp={}, {} microbatches",
                     describe::word_of<Schedule>(describe::kScheduleWords, shape.schedule),
                     shape.pp, shape.vpp, shape.microbatches);
}

// What the shape must be for its schedule, in words; nothing where it is.
std::string_view broken_rule(const ScheduleShape& shape) {
  switch (shape.schedule) {
    case Schedule::kGpipe:
    case Schedule::k1f1b:
      return shape.vpp == 1 ? "" : "vpp = 1";
    case Schedule::kInterleaved1f1b:
    case Schedule::kLoopedBfs:
    case Schedule::kInterleavedZeroBubble:
      return "";  // group_of checks the rest
    case Schedule::kZbv:
      return shape.vpp == 2 ? "" : "vpp = 2";
    case Schedule::kDualPipeV:
      return shape.vpp == 2 && shape.microbatches >= 2 * shape.pp
                 ? ""
                 : "vpp = 2, at least 2*pp microbatches";
    case Schedule::kDualPipe:
      return shape.vpp == 1 &&
                     (shape.pp == 1 || (shape.pp % 2 == 0 && shape.microbatches % 2 == 0 &&
                                        shape.microbatches >= 2 * shape.pp))
                 ? ""
                 : "vpp = 1, pp even or 1, microbatches even and at least 2*pp";
  }
  return "a known schedule";
}

Result<std::int64_t> checked_group(const ScheduleShape& shape) {
  if (shape.pp < 1 || shape.vpp < 1 || shape.microbatches < 1 || shape.group < 0) {
    return invalid(words_of(shape), "", "at least 1 of each");
  }
  if (shape.pp > kMostStageMicrobatches || shape.vpp > kMostStageMicrobatches / shape.pp ||
      shape.microbatches > kMostStageMicrobatches / (shape.pp * shape.vpp)) {
    return invalid(words_of(shape), "",
                   fmt::format("pp * vpp * microbatches of at most {}", kMostStageMicrobatches));
  }
  if (const std::string_view rule = broken_rule(shape); !rule.empty()) {
    return invalid(words_of(shape), "", std::string(rule));
  }
  const bool interleaves = shape.schedule == Schedule::kInterleaved1f1b ||
                           shape.schedule == Schedule::kInterleavedZeroBubble;
  return interleaves ? group_of(shape) : 1;
}

Actions rank_actions(const ScheduleShape& shape, std::int64_t group, std::int64_t rank) {
  switch (shape.schedule) {
    case Schedule::kGpipe:
      return gpipe_actions(shape, rank);
    case Schedule::k1f1b:
      return one_f_one_b_actions(shape, rank);
    case Schedule::kInterleaved1f1b:
    case Schedule::kInterleavedZeroBubble:
      return interleaved_actions(shape, group, rank);
    case Schedule::kLoopedBfs:
      return looped_bfs_actions(shape, rank);
    case Schedule::kZbv:
      return zbv_actions(shape, rank);
    case Schedule::kDualPipe:
      return shape.pp == 1 ? one_f_one_b_actions(shape, rank) : dualpipe_actions(shape, rank);
    case Schedule::kDualPipeV:
      return dualpipe_v_actions(shape, rank);
  }
  return {};
}

}  // namespace

ScheduleShape shape_of(const describe::Layout& layout, std::int64_t microbatches) {
  return {.schedule = layout.schedule,
          .pp = layout.pp,
          .vpp = layout.vpp,
          .microbatches = microbatches,
          .group = 0,
          .pairs = false};
}

Result<bool> check_shape(const ScheduleShape& shape) {
  SEXTANT_CHECK_OK(checked_group(shape));
  return true;
}

Result<ActionTable> action_table(const ScheduleShape& shape) {
  SEXTANT_TRY(const std::int64_t group, checked_group(shape));
  ActionTable table{shape.pp * shape.vpp, shape.microbatches, {}};
  for (std::int64_t rank = 0; rank < shape.pp; ++rank) {
    table.ranks.push_back(rank_actions(shape, group, rank));
  }
  return table;
}

}  // namespace sextant::schedule
