#include "search/find.h"

#include <algorithm>
#include <thread>

#include "search/best_plans.h"
#include "search/family.h"

namespace sextant::search {
namespace {

constexpr std::size_t kFirstRound = 16;  // shapes
constexpr std::size_t kLargestRound = 512;

// Runs task(worker, i) for i in [first, last), each worker with an Explorer of its own.
class Workers {
 public:
  Workers(const Space& space, const FindOptions& options) {
    const unsigned count =
        options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
    for (unsigned i = 0; i < count; ++i) {
      explorers_.emplace_back(space, options);
    }
  }

  template <class Task>
  void run(std::size_t first, std::size_t last, const std::atomic<bool>* stop, const Task& task) {
    std::atomic<std::size_t> next = first;
    const auto work = [&](Explorer& explorer) {
      while (stop == nullptr || !stop->load(std::memory_order_relaxed)) {
        const std::size_t i = next.fetch_add(1);
        if (i >= last) {
          return;
        }
        task(explorer, i);
      }
    };
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(explorers_.size(), last - first); ++i) {
      threads.emplace_back([&, i] { work(explorers_[i]); });
    }
    work(explorers_.front());
  }

  [[nodiscard]] Calls calls() const {
    Calls all;
    for (const Explorer& explorer : explorers_) {
      all += explorer.calls();
    }
    return all;
  }

 private:
  std::vector<Explorer> explorers_;
};

struct Candidate {
  Shape shape;
  Seconds floor;       // Explorer::compute_floor
  double count = 0.0;  // layouts; not asked for where nobody looks at the progress
};

// Shapes as people would try them first: no context or expert tensor parallelism, small batches.
bool is_likely(const Shape& shape, const Choices& choices) {
  constexpr std::int64_t kSequences = 2;
  return shape.cp == choices.cp.front() && shape.etp == choices.etp.front() &&
         (shape.mbs <= kSequences || shape.mbs == choices.mbs.front());
}

bool stopped(const FindOptions& options) {
  return options.stop != nullptr && options.stop->load(std::memory_order_relaxed);
}

// Shapes of which too much was left out for what is recommended, once more.
void look_again(const std::vector<Candidate>& candidates, const std::vector<Seconds>& trusted,
                const FindOptions& options, Workers& workers, BestPlans& best) {
  std::vector<std::size_t> again;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (best.is_too_much(trusted[i])) {
      again.push_back(i);
    }
  }
  if (again.empty()) {
    return;
  }
  BestPlans simplest = best;
  simplest.only_simplest();
  std::vector<BestPlans> each(again.size(), simplest);
  workers.run(0, again.size(), options.stop, [&](Explorer& explorer, std::size_t i) {
    Settled counted;  // were before
    explorer.explore(candidates[again[i]].shape, candidates[again[i]].floor, each[i], counted);
  });
  for (const BestPlans& one : each) {
    best.add(one);
  }
}

}  // namespace

Settled& Settled::operator+=(const Settled& other) {
  possible += other.possible;
  timed += other.timed;
  too_slow += other.too_slow;
  hides_less += other.hides_less;
  too_large += other.too_large;
  return *this;
}

Found find_plans(const Space& space, const FindOptions& options) {
  Workers workers(space, options);
  // Step 1. Every shape's floor by computing alone.
  std::vector<Candidate> candidates(space.shapes().size());
  workers.run(0, candidates.size(), options.stop, [&](Explorer& explorer, std::size_t i) {
    const Shape& shape = space.shapes()[i];
    candidates[i] = {shape, explorer.compute_floor(shape),
                     options.progress ? explorer.count(shape) : 0.0};
  });
  double possible = 0.0;
  for (const Candidate& candidate : candidates) {
    possible += candidate.count;
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.floor < b.floor; });
  // Step 2. A first bound.
  BestPlans best(options);
  if (options.known) {
    best.add(*options.known);
  }
  std::vector<Candidate> likely;
  for (const Candidate& candidate : candidates) {
    if (candidate.floor < best.bound() && is_likely(candidate.shape, space.choices())) {
      likely.push_back(candidate);
    }
  }
  std::vector<BestPlans> tried(likely.size(), best);
  const auto try_likely = [&](std::size_t first, std::size_t last) {
    const Seconds bound = best.bound();
    workers.run(first, last, options.stop, [&](Explorer& explorer, std::size_t i) {
      if (likely[i].floor < bound) {
        explorer.try_some(likely[i].shape, tried[i]);
      }
    });
    for (std::size_t i = first; i < last; ++i) {
      best.add(tried[i]);
    }
  };
  // The first sets a bound for the others.
  const std::size_t first_tried = std::min<std::size_t>(1, likely.size());
  try_likely(0, first_tried);
  try_likely(first_tried, likely.size());
  // Step 3. All shapes, in rounds.
  Found found;
  std::vector<Seconds> trusted(candidates.size());
  std::size_t round = kFirstRound;
  for (std::size_t first = 0; first < candidates.size() && !stopped(options);) {
    const std::size_t last = std::min(candidates.size(), first + round);
    std::vector<BestPlans> each(last - first, best);
    std::vector<Settled> settled(last - first);
    workers.run(first, last, options.stop, [&](Explorer& explorer, std::size_t i) {
      explorer.explore(candidates[i].shape, candidates[i].floor, each[i - first],
                       settled[i - first]);
    });
    for (std::size_t i = 0; i < each.size(); ++i) {
      best.add(each[i]);
      found.settled += settled[i];
      trusted[first + i] = each[i].trusted();
    }
    if (options.progress) {
      options.progress({found.settled.possible, possible,
                        best.plans().empty() ? Seconds() : best.plans().front().time.step});
    }
    first = last;
    round = std::min(2 * round, kLargestRound);
  }
  // Step 4. Shapes of which too much was left out for what is recommended.
  if (!stopped(options)) {
    look_again(candidates, trusted, options, workers, best);
  }
  found.plans = best.plans();
  found.simplest = best.recommended();
  found.front = best.front();
  found.calls = workers.calls();
  found.complete = !stopped(options);
  return found;
}

}  // namespace sextant::search
