#include "metrics/intervals.h"

#include <bitset>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sextant::metrics {
namespace {

constexpr std::size_t kMoments = 64;
using Moments = std::bitset<kMoments>;

Moments moments_of(const Intervals& intervals) {
  Moments moments;
  for (const Interval& one : intervals) {
    for (std::int64_t at = one.start_ns; at < one.end_ns; ++at) {
      moments.set(static_cast<std::size_t>(at));
    }
  }
  return moments;
}

// Any pieces within the moments, empty and overlapping ones among them.
std::vector<Interval> any_pieces() {
  std::vector<Interval> pieces;
  const int count = *rc::gen::inRange(0, 9);
  for (int i = 0; i < count; ++i) {
    const std::int64_t start = *rc::gen::inRange<std::int64_t>(0, kMoments);
    pieces.push_back({start, *rc::gen::inRange<std::int64_t>(start, kMoments + 1)});
  }
  return pieces;
}

bool is_canonical(const Intervals& of) {
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (of[i].start_ns >= of[i].end_ns || (i > 0 && of[i].start_ns <= of[i - 1].end_ns)) {
      return false;
    }
  }
  return true;
}

TEST(Intervals, TouchingOnesAreOne) {
  EXPECT_EQ(united(std::vector<Interval>{{5, 9}, {1, 3}, {3, 4}}), (Intervals{{1, 4}, {5, 9}}));
}

TEST(Intervals, EmptyOnesCoverNothing) {
  EXPECT_TRUE(united(std::vector<Interval>{{5, 5}}).empty());
}

// Against sets of single moments.
RC_GTEST_PROP(Intervals, AreSetsOfMoments, ()) {
  const Intervals a = united(any_pieces());
  const Intervals b = united(any_pieces());
  RC_ASSERT(is_canonical(a) && is_canonical(united(a, b)) && is_canonical(intersection(a, b)) &&
            is_canonical(difference(a, b)));
  RC_ASSERT(moments_of(united(a, b)) == (moments_of(a) | moments_of(b)));
  RC_ASSERT(moments_of(intersection(a, b)) == (moments_of(a) & moments_of(b)));
  RC_ASSERT(moments_of(difference(a, b)) == (moments_of(a) & ~moments_of(b)));
  RC_ASSERT(length_ns(a) == static_cast<std::int64_t>(moments_of(a).count()));
}

}  // namespace
}  // namespace sextant::metrics
