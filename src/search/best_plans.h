// The plans a search has found so far, and the bound that follows from them.
#pragma once

#include <limits>
#include <vector>

#include "search/find.h"

namespace sextant::search {

class BestPlans {
 public:
  explicit BestPlans(const FindOptions& options)
      : top_(options.top),
        weight_(options.computing_weight),
        front_within_(options.front_within),
        below_(options.only ? options.only->below
                            : Seconds(std::numeric_limits<double>::infinity())) {}

  // What is made small.
  [[nodiscard]] Seconds value(const Plan& plan) const { return plan.value(weight_); }

  // A layout with a larger or equal value changes nothing that was asked for.
  [[nodiscard]] Seconds bound() const;
  // The same for a layout of this idea.
  [[nodiscard]] Seconds bound(const describe::Layout& layout) const;
  void add(const Plan& plan);
  void add(const BestPlans& others);
  [[nodiscard]] const std::vector<Plan>& plans() const { return plans_; }
  [[nodiscard]] const std::vector<Plan>& front() const { return front_; }

 private:
  void add_to_front(const Plan& plan);

  std::size_t top_;
  double weight_;
  double front_within_;
  Seconds below_;            // what is asked for is
  std::vector<Plan> plans_;  // fastest first, one an idea
  std::vector<Plan> front_;
};

}  // namespace sextant::search
