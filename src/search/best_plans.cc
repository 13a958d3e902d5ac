#include "search/best_plans.h"

#include <algorithm>

namespace sextant::search {

bool same_idea(const describe::Layout& a, const describe::Layout& b) {
  return a.tp == b.tp && a.pp == b.pp && a.ep == b.ep && a.etp == b.etp;
}

Seconds BestPlans::bound() const {
  if (only_simplest_) {
    return Seconds();
  }
  const Seconds by_rank = plans_.size() < top_ || plans_.empty()
                              ? Seconds(std::numeric_limits<double>::infinity())
                              : value(plans_.back());
  if (front_within_ == 0.0 || plans_.empty()) {
    return by_rank;
  }
  return std::max(by_rank, value(plans_.front()) * (1.0 + front_within_));
}

Seconds BestPlans::bound(const describe::Layout& layout) const {
  const auto known = std::find_if(plans_.begin(), plans_.end(),
                                  [&](const Plan& plan) { return same_idea(plan.layout, layout); });
  if (known == plans_.end() || front_within_ > 0.0 || only_simplest_) {
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

// A little beyond: rounding may not decide what is left out.
void BestPlans::set_last() {
  if (!simplest_) {
    return;
  }
  constexpr double kRounding = 1e-12;
  last_ = best_ * (1.0 + simplest_->given_up) * (1.0 + kRounding);
  std::erase_if(simple_, [&](const Simple& one) { return value(one.plan) > last_; });
}

bool BestPlans::may_be_simplest(Seconds value, int points) {
  if (!is_near(value)) {
    return false;
  }
  Seconds lighter;
  for (const Simple& one : simple_) {
    if (one.points > points) {
      break;
    }
    const Seconds known = this->value(one.plan);
    if (known <= value) {
      return false;
    }
    lighter = one.points < points ? known : lighter;
  }
  trusted_ = std::max(trusted_, lighter);
  return lighter == Seconds();
}

Seconds BestPlans::simple_bound(int points) {
  if (!simplest_) {
    return Seconds();
  }
  Seconds bound = last_;
  Seconds lighter;
  for (const Simple& one : simple_) {
    if (one.points > points) {
      break;
    }
    bound = value(one.plan);
    lighter = one.points < points ? bound : lighter;
  }
  trusted_ = std::max(trusted_, lighter);
  return lighter > Seconds() ? Seconds() : bound;
}

void BestPlans::add_simple(const Simple& one) {
  const Seconds own = value(one.plan);
  const auto beats = [this](const Simple& a, const Simple& b) {
    return a.points <= b.points && value(a.plan) <= value(b.plan);
  };
  if (own > last_ ||
      std::ranges::any_of(simple_, [&](const Simple& other) { return beats(other, one); })) {
    return;
  }
  std::erase_if(simple_, [&](const Simple& other) { return beats(one, other); });
  simple_.insert(std::ranges::upper_bound(simple_, one.points, {}, &Simple::points), one);
}

std::optional<Plan> BestPlans::recommended() const {
  return simple_.empty() ? std::nullopt : std::optional(simple_.front().plan);
}

void BestPlans::add(const Plan& plan) {
  if (simplest_) {
    if (value(plan) < best_) {
      best_ = value(plan);
      set_last();
    }
    add_simple({simplest_->measure->of(plan.layout, plan.device).total(), plan});
  }
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
  for (const Simple& one : others.simple_) {
    add_simple(one);
  }
  if (front_within_ > 0.0) {
    for (const Plan& plan : others.front_) {
      add_to_front(plan);
    }
  }
}

}  // namespace sextant::search
