// Sets of moments as sorted, disjoint, half-open intervals of whole nanoseconds: what "busy",
// "exposed" and "idle" are made of. Touching intervals are one.
#pragma once

#include <cstdint>
#include <vector>

namespace sextant::metrics {

struct Interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  [[nodiscard]] std::int64_t length_ns() const { return end_ns - start_ns; }
  bool operator==(const Interval&) const = default;
};

// In order, no two of which touch or overlap, none empty.
using Intervals = std::vector<Interval>;

// Any intervals, in any order → the moments that at least one covers. Empty ones cover nothing.
// Linear where they come by start.
Intervals united(std::vector<Interval> pieces);

// The moments in both, in either, in `a` but not in `b`; within [from, to).
Intervals intersection(const Intervals& a, const Intervals& b);
Intervals united(const Intervals& a, const Intervals& b);
Intervals difference(const Intervals& a, const Intervals& b);
Intervals clipped(const Intervals& of, std::int64_t from_ns, std::int64_t to_ns);

std::int64_t length_ns(const Intervals& of);

}  // namespace sextant::metrics
