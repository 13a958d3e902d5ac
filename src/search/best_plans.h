// The plans a search has found so far, and the bounds that follow from them.
//
// Which layout is recommended goes by the best value, which only the end of a search knows. So what
// no other plan beats in both points and value is kept, as far as it is within the share given up.
// A layout with more points than one that is kept is left out on trust that this one stays within
// it: `trusted` is the largest value that was trusted so. Where the best turns out smaller, what
// was left out has to be looked at again.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "search/find.h"

namespace sextant::search {

class BestPlans {
 public:
  explicit BestPlans(const FindOptions& options)
      : top_(options.top),
        weight_(options.computing_weight),
        front_within_(options.front_within),
        simplest_(options.simplest) {}

  // What is made small.
  [[nodiscard]] Seconds value(const Plan& plan) const { return plan.value(weight_); }

  // A layout with a larger or equal value changes nothing that was asked for.
  [[nodiscard]] Seconds bound() const;
  // The same for a layout of this idea.
  [[nodiscard]] Seconds bound(const describe::Layout& layout) const;
  // May a layout with at least this value and these points be recommended?
  [[nodiscard]] bool may_be_simplest(Seconds value, int points);
  // With so many points or more and a larger or equal value none is.
  [[nodiscard]] Seconds simple_bound(int points);
  // So that points are asked for only where they matter.
  [[nodiscard]] bool is_near(Seconds value) const { return simplest_ && value < last_; }
  [[nodiscard]] const std::optional<Simplest>& simplest() const { return simplest_; }
  void add(const Plan& plan);
  void add(const BestPlans& others);
  [[nodiscard]] const std::vector<Plan>& plans() const { return plans_; }
  [[nodiscard]] const std::vector<Plan>& front() const { return front_; }
  // Of those within the share given up, the one with the fewest points.
  [[nodiscard]] std::optional<Plan> recommended() const;
  [[nodiscard]] Seconds trusted() const { return trusted_; }
  // Was anything left out on such trust that may be recommended now?
  [[nodiscard]] bool is_too_much(Seconds trusted) const { return trusted > last_; }
  // Nothing but what may be recommended is asked for from here on.
  void only_simplest() { only_simplest_ = true; }

 private:
  struct Simple {
    int points = 0;
    Plan plan;
  };
  void add_to_front(const Plan& plan);
  void add_simple(const Simple& one);
  void set_last();

  std::size_t top_;
  double weight_;
  double front_within_;
  std::optional<Simplest> simplest_;
  bool only_simplest_ = false;
  Seconds best_ = Seconds(std::numeric_limits<double>::infinity());  // value of any plan
  Seconds last_ = best_;  // what may be recommended is below, or as large
  Seconds trusted_;
  std::vector<Plan> plans_;  // fastest first, one an idea
  std::vector<Plan> front_;
  std::vector<Simple> simple_;  // by points; each is faster than the one before
};

}  // namespace sextant::search
