// A draw walks down the tree of the space; at each level a branch is taken with a chance in
// proportion to the layouts below it, so that every layout is as likely as any other.
#include <algorithm>
#include <random>

#include "search/baselines/pricer.h"

namespace sextant::search {
namespace {

using describe::Layout;

class Draw {
 public:
  Draw(const Space& space, std::uint64_t seed, double weight)
      : space_(space), pricer_(space_.problem(), weight), random_(seed) {
    for (const Shape& shape : space_.shapes()) {
      for (const Variant& variant : space_.variants(shape)) {
        Layout layout = space_.layout_of(shape, variant);
        all_ += space_.count(layout);
        roots_.push_back(std::move(layout));
        up_to_.push_back(all_);
      }
    }
  }

  BaselineResult result(std::int64_t samples) {
    for (std::int64_t i = 0; i < samples && all_ > 0.0; ++i) {
      pricer_.improve(layout(), best_);
    }
    return {best_, pricer_.calls()};
  }

 private:
  // In [0, below), the same on every machine: 53 bits are what a double holds.
  double number(double below) {
    constexpr double kSteps = 9007199254740992.0;  // 2^53
    return static_cast<double>(random_() >> 11U) / kSteps * below;
  }
  std::size_t index(std::size_t count) {
    return std::min(static_cast<std::size_t>(number(static_cast<double>(count))), count - 1);
  }

  Layout layout() {
    const auto root = std::upper_bound(up_to_.begin(), up_to_.end(), number(all_));
    Layout layout =
        roots_[std::min(static_cast<std::size_t>(root - up_to_.begin()), roots_.size() - 1)];
    set_pipeline(layout);
    const auto& splits = space_.splits(layout.stages());
    layout.split = splits[index(splits.size())];
    const auto& groups = space_.switches(layout);
    const SwitchGroup& group = *weighted(groups, [](const SwitchGroup& at) { return at.count; });
    layout.recompute = group.recompute;
    const Sharding& sharding = *weighted(
        group.shardings, [](const Sharding& at) { return static_cast<double>(at.hidden.size()); });
    space_.set(sharding, layout);
    layout.overlap = sharding.hidden[index(sharding.hidden.size())];
    return layout;
  }

  void set_pipeline(Layout& layout) {
    const std::vector<Pipeline> pipelines = space_.pipelines(layout);
    Layout at = layout;
    const auto below = [&](const Pipeline& pipeline) {
      Space::set(pipeline, at);
      double count = 0.0;
      for (const SwitchGroup& group : space_.switches(at)) {
        count += group.count;
      }
      return count * static_cast<double>(space_.splits(at.stages()).size());
    };
    Space::set(*weighted(pipelines, below), layout);
  }

  // REQUIRES: the list is not empty.
  template <class T, class Weight>
  typename std::vector<T>::const_iterator weighted(const std::vector<T>& list,
                                                   const Weight& weight) {
    double sum = 0.0;
    for (const T& at : list) {
      sum += weight(at);
    }
    double left = number(sum);
    for (auto at = list.begin(); at != list.end(); ++at) {
      left -= weight(*at);
      if (left < 0.0) {
        return at;
      }
    }
    return std::prev(list.end());
  }

  Space space_;
  Pricer pricer_;
  std::mt19937_64 random_;
  std::vector<Layout> roots_;
  std::vector<double> up_to_;  // layouts of the roots so far
  double all_ = 0.0;
  std::optional<Plan> best_;
};

}  // namespace

BaselineResult random_layouts(const Space& space, std::int64_t samples, std::uint64_t seed,
                              double computing_weight) {
  return Draw(space, seed, computing_weight).result(samples);
}

}  // namespace sextant::search
