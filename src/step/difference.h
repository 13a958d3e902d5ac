// How much faster one job is than another, and within what: the interval of a difference.
//
// Errors that both predictions share cancel in their ratio, so that it is known better than either
// step (step_answer.h: `interval`). How well, depends on what differs:
// describe/difference_spread.h. A job against itself is exactly 1; swapped, a ratio and its ends
// are one over what they were.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "describe/difference_spread.h"
#include "describe/layout/job.h"
#include "describe/words.h"

namespace sextant::step {

// What an interval says of the sign. kEven: it contains 1.
enum class Verdict { kFaster, kSlower, kEven };
inline constexpr std::array<describe::Word<Verdict>, 3> kVerdictWords{
    {{Verdict::kFaster, "faster"},
     {Verdict::kSlower, "slower"},
     {Verdict::kEven, "cannot be told"}}};

struct Difference {
  double speed = 1.0;  // tokens a second of the one, over the other's
  double low = 1.0;    // eight of ten measured ratios of such pairs are between low and high
  double high = 1.0;
  std::string spread_class;          // that the interval is of; "" where nothing differs
  std::vector<std::string> outside;  // features that were not measured: the interval is wider
  [[nodiscard]] Verdict verdict() const {
    return low > 1.0 ? Verdict::kFaster : high < 1.0 ? Verdict::kSlower : Verdict::kEven;
  }
  // Half of the interval, as a share of the other's speed: 0.1 is ten points.
  [[nodiscard]] double half_width() const { return (high - low) / 2.0; }
};

// A job and how long its step is predicted to take.
struct TimedJob {
  const describe::Job& job;
  Seconds step;
};

// Of one against the other. `left_out`: a source whose rows must not count
// (DifferenceSpreads::width). REQUIRES: both steps and batches are positive.
Difference difference(const TimedJob& one, const TimedJob& other,
                      const describe::DifferenceSpreads& spreads, std::string_view left_out = {});

// The same of predicted speeds: `devices` is how many times the other's devices the one has, its
// interval that of what a device does.
Difference difference_of(double speed, double devices, describe::DifferenceWidth width);

}  // namespace sextant::step
