// Schedules that fold the pipeline, so that each rank holds one stage near the start and one near
// the end: ZB-V, DualPipeV, and DualPipe, whose two directions are two such stages.
#include <algorithm>
#include <array>

#include "schedule/families.h"

namespace sextant::schedule {

namespace {

// One rank's two sides: 0 is passed on the way down (early in the model), 1 on the way up.
struct Side {
  std::int64_t stage = 0;
  std::int64_t first_microbatch = 0;
  std::int64_t forwards = 0;
  std::int64_t backwards = 0;
};

class FoldedWriter {
 public:
  FoldedWriter(Side down, Side up) : sides_{down, up} {}

  void forward(std::size_t side) { add(ActionKind::kForward, side, sides_.at(side).forwards++); }
  void backward(std::size_t side) { add(ActionKind::kBackward, side, sides_.at(side).backwards++); }
  // The input gradient; its weight gradient joins the end of the queue.
  void input_gradient(std::size_t side) {
    add(ActionKind::kInputGradient, side, sides_.at(side).backwards++);
    Action later = actions_.back();
    later.kind = ActionKind::kWeightGradient;
    owed_.push_back(later);
  }
  // The oldest weight gradient that is owed; of one side, or of either.
  void weight_gradient() { pay(owed_.begin()); }
  void weight_gradient(std::size_t side) {
    pay(std::find_if(owed_.begin(), owed_.end(),
                     [&](const Action& action) { return action.stage == sides_.at(side).stage; }));
  }
  [[nodiscard]] bool owes(std::size_t side) const {
    return std::any_of(owed_.begin(), owed_.end(),
                       [&](const Action& action) { return action.stage == sides_.at(side).stage; });
  }
  void split_backward(std::size_t side) {
    input_gradient(side);
    weight_gradient(side);
  }
  // Forward of one side and backward of the other in one slot.
  void pair(std::size_t forward_side) {
    forward(forward_side);
    actions_.back().with_next = true;
    backward(1 - forward_side);
  }
  [[nodiscard]] const Side& side(std::size_t number) const { return sides_.at(number); }
  Actions take() { return std::move(actions_); }

 private:
  void add(ActionKind kind, std::size_t side, std::int64_t number) {
    const Side& at = sides_.at(side);
    actions_.push_back(action(kind, at.stage, at.first_microbatch + number));
  }

  void pay(Actions::iterator debt) {
    actions_.push_back(*debt);
    owed_.erase(debt);
  }

  std::array<Side, 2> sides_;
  Actions actions_;
  Actions owed_;
};

template <typename Body>
void times(std::int64_t count, const Body& body) {
  for (std::int64_t n = 0; n < count; ++n) {
    body(n);
  }
}

// DualPipe's eight steps, for a rank at `depth` of a fold `folds` ranks deep (the turn is at folds
// − 1). Steps 1 to 3 fill: down alone, down and up, then up with the first backwards.
void fill_dual(FoldedWriter& out, std::int64_t depth, std::int64_t above) {
  times(2 * above, [&](std::int64_t) { out.forward(0); });
  times(depth + 1, [&](std::int64_t) {
    out.forward(0);
    out.forward(1);
  });
  times(above, [&](std::int64_t) {
    out.split_backward(1);
    out.forward(1);
  });
}

// Steps 6 to 8: whole backwards, and from the middle on input gradients only, whose weight
// gradients fill the waits.
void drain_dual(FoldedWriter& out, std::int64_t depth, std::int64_t above) {
  const std::int64_t drain = depth + 1;
  times(2 * drain, [&](std::int64_t n) {
    const std::size_t side = n % 2 == 0 ? 1 : 0;
    if (n < drain) {
      out.backward(side);
    } else {
      out.input_gradient(side);
    }
  });
  times(above, [&](std::int64_t) {
    out.weight_gradient();
    out.input_gradient(0);
  });
  times(drain, [&](std::int64_t) { out.weight_gradient(); });
}

// All eight, with `microbatches` on each side. REQUIRES: microbatches ≥ 2 · folds.
void write_dual(FoldedWriter& out, std::int64_t folds, std::int64_t depth,
                std::int64_t microbatches) {
  const std::int64_t above = folds - 1 - depth;  // ranks between this one and the turn
  fill_dual(out, depth, above);
  // Step 4. Every slot a forward of one side and a backward of the other; the first two at the turn
  // follow one another, as nothing is there yet to hide.
  times(microbatches - 2 * folds + depth + 1, [&](std::int64_t n) {
    if (n == 0 && above == 0) {
      out.forward(0);
      out.backward(1);
    } else {
      out.pair(0);
    }
    out.pair(1);
  });
  // Step 5. No new microbatches come down.
  times(above, [&](std::int64_t) {
    out.backward(1);
    out.pair(1);
  });
  drain_dual(out, depth, above);
}

}  // namespace

// The order that fills 2·pp − 1 microbatches; with fewer, those beyond are left out of it.
Actions zbv_actions(const ScheduleShape& shape, std::int64_t rank) {
  const std::int64_t microbatches = std::max(2 * shape.pp - 1, shape.microbatches);
  FoldedWriter out({.stage = rank}, {.stage = 2 * shape.pp - 1 - rank});
  times(2 * (shape.pp - rank) - 1, [&](std::int64_t) { out.forward(0); });
  times(rank, [&](std::int64_t) {
    out.forward(1);
    out.forward(0);
  });
  times(shape.pp - rank, [&](std::int64_t) {
    out.forward(1);
    out.split_backward(1);
  });
  while (out.side(1).forwards < microbatches) {
    if (out.side(0).forwards < microbatches) {
      out.forward(0);
    }
    out.split_backward(0);
    out.forward(1);
    out.split_backward(1);
  }
  // Drain: the input gradients that others wait for; weight gradients where there is time.
  times(rank, [&](std::int64_t) {
    out.input_gradient(0);
    out.input_gradient(1);
  });
  times(shape.pp - rank, [&](std::int64_t) {
    out.input_gradient(0);
    out.weight_gradient(0);
  });
  for (const std::size_t side : {1U, 0U}) {
    while (out.owes(side)) {
      out.weight_gradient(side);
    }
  }
  Actions actions = out.take();
  std::erase_if(actions, [&](const Action& each) { return each.microbatch >= shape.microbatches; });
  return actions;
}

Actions dualpipe_v_actions(const ScheduleShape& shape, std::int64_t rank) {
  FoldedWriter out({.stage = rank}, {.stage = 2 * shape.pp - 1 - rank});
  write_dual(out, shape.pp, rank, shape.microbatches);
  return out.take();
}

// The first half of the microbatches comes down from rank 0, the second half from rank pp − 1; to
// each rank its nearer end is "down".
Actions dualpipe_actions(const ScheduleShape& shape, std::int64_t rank) {
  const std::int64_t half = shape.microbatches / 2;
  const std::int64_t depth = std::min(rank, shape.pp - 1 - rank);
  const bool near_first = rank == depth;
  FoldedWriter out({.stage = depth, .first_microbatch = near_first ? 0 : half},
                   {.stage = shape.pp - 1 - depth, .first_microbatch = near_first ? half : 0});
  write_dual(out, shape.pp / 2, depth, half);
  return out.take();
}

}  // namespace sextant::schedule
