// Interleaved schedules: a rank holds vpp chunks, and groups of microbatches pass through chunk 0,
// then chunk 1, and so on, before the next group starts.
#include <algorithm>

#include <fmt/format.h>

#include "schedule/families.h"

namespace sextant::schedule {

namespace {

// Which chunk and microbatch the n-th forward (or backward) of a rank is.
struct Turn {
  std::int64_t chunk = 0;
  std::int64_t microbatch = 0;
};

Turn turn_of(const ScheduleShape& shape, std::int64_t group, std::int64_t number) {
  const std::int64_t first = number / (group * shape.vpp) * group;  // of this group's microbatches
  const std::int64_t held = std::min(group, shape.microbatches - first);  // a last one may be short
  const std::int64_t within = number - first * shape.vpp;
  return {within / held, first + within % held};
}

// One rank's list, written as three counters that only go up.
class RankWriter {
 public:
  RankWriter(const ScheduleShape& shape, std::int64_t group, std::int64_t rank)
      : shape_(shape), group_(group), rank_(rank) {}

  void forward(bool with_next = false) {
    const Turn turn = turn_of(shape_, group_, forwards_++);
    add(ActionKind::kForward, turn.chunk, turn.microbatch);
    actions_.back().with_next = with_next;
  }
  void backward(ActionKind kind) { add_backward(kind, backwards_++); }
  void weight_gradient() { add_backward(ActionKind::kWeightGradient, weights_++); }

  [[nodiscard]] std::int64_t weights() const { return weights_; }
  Actions take() { return std::move(actions_); }

 private:
  void add_backward(ActionKind kind, std::int64_t number) {
    const Turn turn = turn_of(shape_, group_, number);
    add(kind, shape_.vpp - 1 - turn.chunk, turn.microbatch);
  }
  void add(ActionKind kind, std::int64_t chunk, std::int64_t microbatch) {
    actions_.push_back(action(kind, chunk * shape_.pp + rank_, microbatch));
  }

  const ScheduleShape& shape_;
  std::int64_t group_ = 1;
  std::int64_t rank_ = 0;
  std::int64_t forwards_ = 0;
  std::int64_t backwards_ = 0;
  std::int64_t weights_ = 0;
  Actions actions_;
};

}  // namespace

Result<std::int64_t> group_of(const ScheduleShape& shape) {
  const std::int64_t m = shape.microbatches;
  if (shape.group > 0) {
    const std::int64_t rest = m % shape.group;
    if (shape.group < shape.pp || shape.group > m || (rest != 0 && rest < shape.pp)) {
      return invalid(
          fmt::format("{} microbatches in groups of {} with pp={}", m, shape.group, shape.pp), "",
          "groups of pp to all microbatches, the last one full or at least pp");
    }
    return shape.group;
  }
  const std::int64_t rounds = std::max<std::int64_t>(1, m / shape.pp);
  if (m % rounds != 0) {
    return invalid(
        fmt::format("{} microbatches with pp={}, interleaved", m, shape.pp), "",
        fmt::format("a multiple of pp, or one that divides into {} equal rounds", rounds));
  }
  return m / rounds;
}

// Zero bubble: half the warm-up, backwards split; weight gradients run `rank` backwards late, where
// later ranks would otherwise wait.
Actions interleaved_actions(const ScheduleShape& shape, std::int64_t group, std::int64_t rank) {
  const bool zero_bubble = shape.schedule == describe::Schedule::kInterleavedZeroBubble;
  const std::int64_t all = shape.microbatches * shape.vpp;
  const bool pairs = shape.pairs && !zero_bubble;
  const std::int64_t ranks_after = shape.pp - 1 - rank;
  const std::int64_t warm_up = std::min(
      all, (shape.vpp - 1) * group + (zero_bubble ? 1 : 2) * ranks_after + (pairs ? 1 : 0));
  RankWriter writer(shape, group, rank);
  for (std::int64_t n = 0; n < warm_up; ++n) {
    writer.forward();
  }
  for (std::int64_t n = 0; n < all; ++n) {
    if (warm_up + n < all) {
      writer.forward(pairs);
    }
    writer.backward(zero_bubble ? ActionKind::kInputGradient : ActionKind::kBackward);
    if (zero_bubble && n >= rank) {
      writer.weight_gradient();
    }
  }
  while (zero_bubble && writer.weights() < all) {
    writer.weight_gradient();
  }
  return writer.take();
}

}  // namespace sextant::schedule
