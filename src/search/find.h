// The fastest layouts of a problem, exactly: branch and bound over the space (space.h).
//
// Shapes (tp, cp, ep, etp, micro-batch) are taken by the least that a step of them can take
// (step/floor.h). A family of layouts whose floor is not below the bound is left out whole, and so
// is one that does not fit however much it recomputes; the rest is timed. The bound is the time of
// the last of the plans asked for. Work is done in rounds whose bound is set before they begin, so
// answer and counts are the same on any number of threads. Why nothing is missed:
// docs/models/search.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "search/leaf.h"
#include "search/simplicity.h"
#include "search/space.h"

namespace sextant::search {

struct Plan {
  describe::Layout layout;
  step::StepTerms time;
  Bytes least;   // what a rejection rests on (cost::RankMemory)
  Bytes device;  // what the device is expected to show
  // What the search makes small.
  [[nodiscard]] Seconds value(double computing_weight) const {
    return time.step + time.computing * computing_weight;
  }
};

// Layouts by what became of them; they add up to all there are.
struct Settled {
  double possible = 0.0;    // legal layouts
  double timed = 0.0;       // whole steps priced
  double too_slow = 0.0;    // of families whose floor is not below the bound
  double hides_less = 0.0;  // the same with more hidden is not below it
  double too_large = 0.0;   // do not fit
  Settled& operator+=(const Settled& other);
};

struct Progress {
  double settled = 0.0;   // layouts timed or left out
  double possible = 0.0;  // all there are
  Seconds best;           // 0: none yet
};

// Asks for the recommended layout as well (recommend.h): of those that give up at most so much of
// the best value, the one with the fewest points, of these the fastest.
struct Simplest {
  const Simplicity* measure = nullptr;
  double given_up = 0.0;
};

struct FindOptions {
  std::size_t top = 5;  // plans, each another idea (same_idea)
  // What is made small: the step, and so much of what a device computes in it (step/energy.h: the
  // least energy).
  double computing_weight = 0.0;
  unsigned threads = 0;  // 0: as many as there are
  // Also asked for: of plans up to this much slower than the best, those that no other beats in
  // both time and memory. 0: none.
  double front_within = 0.0;
  std::optional<Simplest> simplest = std::nullopt;
  // One of the space that fits, where one is known: what is not better is left out from the start.
  std::optional<Plan> known = std::nullopt;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const Progress&)> progress = {};
};

struct Found {
  std::vector<Plan> plans;       // the best of each idea, fastest first
  std::vector<Plan> front;       // by time; each needs less memory than the one before
  std::optional<Plan> simplest;  // where it was asked for and there is a plan
  Settled settled;
  Calls calls;
  bool complete = true;  // false: stopped before the end
};

Found find_plans(const Space& space, const FindOptions& options);

// The same tp, pp, ep and etp. Contexts make no idea of their own: twice as many ranks with twice
// the sequences of a microbatch do the same work in almost the same time.
bool same_idea(const describe::Layout& a, const describe::Layout& b);

}  // namespace sextant::search
