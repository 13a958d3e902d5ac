// A checked action table in an order that can be run straight through.
//
// Which action waits for which does not depend on how long they take. So the checks and the order
// are worked out once a table, and each set of costs then needs one pass over the steps.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "schedule/actions.h"

namespace sextant::schedule {

// One action. Steps stand in an order in which everything a step waits for is before it; the steps
// of one rank keep their order, and two that share a slot are neighbours.
struct Step {
  Action action;
  std::uint32_t rank = 0;
  std::uint32_t after = 0;  // 1 + the step of another stage whose result it needs; 0: none
  bool receives = false;    // that step is on another rank
  bool sends = false;       // the step that needs this one is on another rank
};

struct CompiledTable {
  std::int64_t ranks = 0;
  std::int64_t stages = 0;
  std::int64_t microbatches = 0;
  std::vector<Step> steps;
};

// What waits for what: a forward for the forward of the stage before; a backward or an input
// gradient for that of the stage after, and for its own forward; a weight gradient for its own
// input gradient; each action for all that its rank has in front of it. An Error says what is
// wrong:
//   - an action outside the table's stages and microbatches, twice, or missing: each stage has of
//     each microbatch one forward, and one backward or one input and one weight gradient
//   - a backward on another rank than its forward, or not after it; likewise a weight gradient
//   - a slot with more than two actions, or one that ends its list while it should share
//   - ranks that wait for one another for ever
Result<CompiledTable> compiled(const ActionTable& table);

}  // namespace sextant::schedule
