// What each pipeline rank does, in order: the common form of every pipeline schedule.
//
// A table says nothing about time. Given the costs of its actions, simulate.h says when each runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::schedule {

enum class ActionKind : std::uint8_t {
  kForward,
  kBackward,        // input and weight gradient together
  kInputGradient,   // what the stage before waits for
  kWeightGradient,  // what nobody waits for
  kReduceGradient,  // of the whole stage, over data parallel ranks; belongs to no microbatch
};
inline constexpr int kActionKinds = 5;

struct Action {
  ActionKind kind = ActionKind::kForward;
  bool with_next = false;       // shares one slot with the action after it, as DualPipe's pairs do
  std::int32_t stage = 0;       // 0 … stages − 1, in model order
  std::int32_t microbatch = 0;  // 0 … microbatches − 1; 0 for kReduceGradient
  bool operator==(const Action&) const = default;
};

// The actions of each rank, in the order it runs them. A forward and a backward of one stage and
// microbatch run on one rank; which rank that is may depend on the microbatch (DualPipe).
struct ActionTable {
  std::int64_t stages = 0;  // pp · vpp; pp under DualPipe
  std::int64_t microbatches = 0;
  std::vector<std::vector<Action>> ranks;
};

// "2F5": stage 2, forward, microbatch 5. B backward, I input gradient, W weight gradient; "2R" the
// reduction of stage 2.
std::string to_text(const Action& action);

}  // namespace sextant::schedule
