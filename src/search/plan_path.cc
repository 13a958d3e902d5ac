#include "search/plan_path.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/layout_words.h"
#include "describe/layout/legality.h"
#include "search/leaf.h"
#include "search/space.h"

namespace sextant::search {
namespace {

using describe::Layout;
using Keys = std::vector<std::string>;

constexpr double kLeastGain = 0.005;   // of a step
constexpr double kNothing = 0.0005;    // what a key that matters adds
constexpr std::size_t kMostKeys = 24;  // that are tried two and three at a time

class PathWalk {
 public:
  PathWalk(const Task& of, const Layout& from, const Layout& plan)
      : problem_(of.problem), job_(of.problem.job), leaf_(of.problem), at_(from), plan_(plan) {
    step_ = leaf_.time(at_).step;
    missing_ = leaf_.memory(at_).device - problem_.available();
  }

  [[nodiscard]] const Layout& layout() const { return at_; }
  [[nodiscard]] Bytes missing() const { return missing_; }

  // The next change; nothing where none is worth making.
  std::optional<PlanStep> next() {
    std::optional<Change> best;
    const Keys differing = differing_keys();
    for (const Keys& keys : sets_of(differing)) {
      consider(keys, best);
    }
    if (!best) {
      return std::nullopt;
    }
    drop_useless(*best);
    at_ = with(best->keys);
    PlanStep step{text_of(best->keys), step_, best->step, at_};
    step_ = best->step;
    missing_ = Bytes();
    return step;
  }

 private:
  struct Change {
    Keys keys;
    Seconds step;
    double score = 0.0;
  };

  [[nodiscard]] Keys differing_keys() const {
    Keys keys;
    for (const auto& [key, value] : describe::layout_values(plan_)) {
      if (value != describe::value_of(at_, key)) {
        keys.emplace_back(key);
      }
    }
    return keys;
  }

  // One, two, three, and all of them.
  static std::vector<Keys> sets_of(const Keys& keys) {
    std::vector<Keys> sets;
    const std::size_t count = keys.size();
    for (std::size_t i = 0; i < count; ++i) {
      sets.push_back({keys[i]});
      for (std::size_t j = i + 1; j < count && count <= kMostKeys; ++j) {
        sets.push_back({keys[i], keys[j]});
        for (std::size_t k = j + 1; k < count; ++k) {
          sets.push_back({keys[i], keys[j], keys[k]});
        }
      }
    }
    if (count > 3) {
      sets.push_back(keys);
    }
    return sets;
  }

  [[nodiscard]] std::string text_of(const Keys& keys) const {
    std::vector<std::string> pairs;
    for (const std::string& key : keys) {
      pairs.push_back(fmt::format("{}={}", key, describe::value_of(plan_, key)));
    }
    return join(pairs, ",");
  }

  [[nodiscard]] Layout with(const Keys& keys) const {
    Layout changed = at_;
    // The plan's own values: they read back.
    (void)describe::set_keys(text_of(keys), changed);
    return changed;
  }

  // Nothing where it is not legal or does not fit.
  std::optional<Seconds> time_with(const Keys& keys) {
    job_.layout = with(keys);
    if (!describe::is_legal(job_) || leaf_.memory(job_.layout).device > problem_.available()) {
      return std::nullopt;
    }
    return leaf_.time(job_.layout).step;
  }

  void consider(const Keys& keys, std::optional<Change>& best) {
    const auto step = time_with(keys);
    if (!step) {
      return;
    }
    const double gain = (step_ - *step) / step_;
    if (missing_ <= Bytes() && gain < kLeastGain) {
      return;
    }
    // What does not fit must change, whatever it costs; else the most for each key.
    const double score = missing_ > Bytes() ? gain : gain / static_cast<double>(keys.size());
    if (!best || score > best->score) {
      best = Change{keys, *step, score};
    }
  }

  void drop_useless(Change& change) {
    for (std::size_t i = 0; i < change.keys.size() && change.keys.size() > 1;) {
      Keys fewer = change.keys;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      const auto step = time_with(fewer);
      if (step && *step <= change.step * (1.0 + kNothing)) {
        change.keys = fewer;
        change.step = *step;
      } else {
        ++i;
      }
    }
  }

  const Problem& problem_;
  describe::Job job_;
  Leaf leaf_;
  Layout at_;
  Layout plan_;
  Seconds step_;
  Bytes missing_;
};

}  // namespace

PlanPath plan_path(const Task& task, const PathStart& users, const Layout& plan) {
  PlanPath path;
  Layout from = users.layout;
  from.dp = task.problem.is_fixed("dp") ? from.dp : 0;
  path.start.layout = from;
  path.start.words = words_of(task.problem, from);
  path.broken = users.broken;
  if (path.broken.empty()) {
    path.broken = broken_rules(task, from);
  }
  if (!path.broken.empty()) {
    return path;
  }
  path.start = plan_row(task, from);
  PathWalk walk(task, from, plan);
  path.missing = walk.missing();
  path.measured = users.measured;
  if (users.measured) {
    path.scale = *users.measured / path.start.result.step.step;
  }
  while (auto step = walk.next()) {
    step->before = step->before * path.scale;
    step->after = step->after * path.scale;
    path.steps.push_back(*std::move(step));
  }
  path.end = plan_row(task, walk.layout());
  return path;
}

}  // namespace sextant::search
