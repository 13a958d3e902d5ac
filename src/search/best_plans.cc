#include "search/best_plans.h"

#include <algorithm>

namespace sextant::search {

bool same_idea(const describe::Layout& a, const describe::Layout& b) {
  return a.tp == b.tp && a.pp == b.pp && a.ep == b.ep && a.etp == b.etp;
}

Seconds BestPlans::bound() const {
  const Seconds by_rank = plans_.size() < top_ || plans_.empty() ? below_ : value(plans_.back());
  if (front_within_ == 0.0 || plans_.empty()) {
    return by_rank;
  }
  return std::max(by_rank, value(plans_.front()) * (1.0 + front_within_));
}

Seconds BestPlans::bound(const describe::Layout& layout) const {
  const auto known = std::find_if(plans_.begin(), plans_.end(),
                                  [&](const Plan& plan) { return same_idea(plan.layout, layout); });
  if (known == plans_.end() || front_within_ > 0.0) {
    return bound();
  }
  return std::min(bound(), value(*known));
}

void BestPlans::add_to_front(const Plan& plan) {
  const auto beats = [this](const Plan& a, const Plan& b) {
    return value(a) <= value(b) && a.least <= b.least;
  };
  if (std::any_of(front_.begin(), front_.end(),
                  [&](const Plan& other) { return beats(other, plan); })) {
    return;
  }
  std::erase_if(front_, [&](const Plan& other) { return beats(plan, other); });
  const auto place =
      std::upper_bound(front_.begin(), front_.end(), plan,
                       [this](const Plan& a, const Plan& b) { return value(a) < value(b); });
  front_.insert(place, plan);
  const Seconds last = value(front_.front()) * (1.0 + front_within_);
  std::erase_if(front_, [&](const Plan& other) { return value(other) > last; });
}

void BestPlans::add(const Plan& plan) {
  if (front_within_ > 0.0) {
    add_to_front(plan);
  }
  const auto known = std::find_if(plans_.begin(), plans_.end(), [&](const Plan& other) {
    return same_idea(other.layout, plan.layout);
  });
  if (known != plans_.end()) {
    if (value(*known) <= value(plan)) {
      return;
    }
    plans_.erase(known);
  }
  const auto place =
      std::upper_bound(plans_.begin(), plans_.end(), plan,
                       [this](const Plan& a, const Plan& b) { return value(a) < value(b); });
  plans_.insert(place, plan);
  if (plans_.size() > top_) {
    plans_.pop_back();
  }
}

void BestPlans::add(const BestPlans& others) {
  for (const Plan& plan : others.plans_) {
    add(plan);
  }
  if (front_within_ > 0.0) {
    for (const Plan& plan : others.front_) {
      add_to_front(plan);
    }
  }
}

}  // namespace sextant::search
