// What all baselines ask of one layout: is it legal, does it fit, what does it take?
#pragma once

#include <optional>

#include "describe/layout/legality.h"
#include "search/baselines/baselines.h"

namespace sextant::search {

// Keeps scratch space: one a thread. The problem must outlive it.
class Pricer {
 public:
  explicit Pricer(const Problem& problem, double computing_weight = 0.0)
      : leaf_(problem),
        job_(problem.job),
        available_(problem.available()),
        weight_(computing_weight) {}

  bool is_legal(const describe::Layout& layout) {
    job_.layout = layout;
    return describe::is_legal(job_);
  }
  // REQUIRES (here and below): is_legal(layout).
  bool fits(const describe::Layout& layout) { return leaf_.memory(layout).device <= available_; }
  // The pipeline rank that does not fit, if one does not.
  std::optional<std::int64_t> too_full(const describe::Layout& layout) {
    const cost::RankMemory memory = leaf_.memory(layout);
    return memory.device > available_ ? std::optional(memory.pipeline_rank) : std::nullopt;
  }
  // Nothing where it does not fit.
  std::optional<Plan> priced(const describe::Layout& layout) {
    const cost::RankMemory memory = leaf_.memory(layout);
    if (memory.device > available_) {
      return std::nullopt;
    }
    return Plan{layout, leaf_.time(layout), memory.least, memory.device};
  }
  // Keeps the one with the smaller value in `best`.
  void improve(const describe::Layout& layout, std::optional<Plan>& best) {
    std::optional<Plan> plan = priced(layout);
    if (plan && (!best || plan->value(weight_) < best->value(weight_))) {
      best = std::move(plan);
    }
  }
  [[nodiscard]] const Calls& calls() const { return leaf_.calls(); }

 private:
  Leaf leaf_;
  describe::Job job_;
  Bytes available_;
  double weight_;
};

}  // namespace sextant::search
