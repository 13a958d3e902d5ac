// How long something took, over its occurrences: exact in nanoseconds, and exact to add up, so that
// no order of adding changes a digit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace sextant::metrics {

// A sum of products of 64-bit numbers: 128 bits, where 2^64 squares of an hour in ns still fit.
class WideSum {
 public:
  constexpr WideSum() = default;
  constexpr WideSum(std::uint64_t high, std::uint64_t low) : high_(high), low_(low) {}
  // Adds a · b.
  void add_product(std::uint64_t a, std::uint64_t b);
  // Adds a number; below zero and what is no number count as nothing, fractions are cut off.
  void add(double value);
  WideSum& operator+=(const WideSum& other);
  [[nodiscard]] double value() const;
  [[nodiscard]] std::uint64_t high() const { return high_; }
  [[nodiscard]] std::uint64_t low() const { return low_; }
  bool operator==(const WideSum&) const = default;

 private:
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

struct Spread {
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;  // of none: 0
  std::int64_t max_ns = 0;
  WideSum squares;  // of durations, ns²

  // REQUIRES: duration ≥ 0.
  void add(std::int64_t duration_ns) {
    min_ns = count == 0 ? duration_ns : std::min(min_ns, duration_ns);
    max_ns = std::max(max_ns, duration_ns);
    count += 1;
    // What no real profile reaches stays at the largest.
    total_ns += std::min(duration_ns, std::numeric_limits<std::int64_t>::max() - total_ns);
    squares.add_product(static_cast<std::uint64_t>(duration_ns),
                        static_cast<std::uint64_t>(duration_ns));
  }
  Spread& operator+=(const Spread& other);
  [[nodiscard]] double mean_ns() const;
  // Of a sample (n − 1); of fewer than two: 0.
  [[nodiscard]] double deviation_ns() const;
  bool operator==(const Spread&) const = default;
};

}  // namespace sextant::metrics
