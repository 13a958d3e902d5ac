// Microseconds as a profile writes them, in decimal, to whole nanoseconds without passing through a
// double: 1790857026000123.457 µs has more digits than one holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sextant::profile {

// Nanoseconds, and what is left in millionths of one: 0 ≤ millionths < 1,000,000.
struct ExactTime {
  std::int64_t ns = 0;
  std::int64_t millionths = 0;
  [[nodiscard]] std::int64_t rounded() const { return ns + (millionths >= 500'000 ? 1 : 0); }
  bool operator==(const ExactTime&) const = default;
};

// "12.5", "-3", "1.5e3". Digits beyond 10⁻⁶ ns are cut off. Nothing for what is no number or lies
// beyond 2⁶² ns, 146 years.
std::optional<ExactTime> exact_microseconds(std::string_view text);

constexpr ExactTime operator+(const ExactTime& a, const ExactTime& b) {
  const std::int64_t millionths = a.millionths + b.millionths;
  return {a.ns + b.ns + (millionths >= 1'000'000 ? 1 : 0), millionths % 1'000'000};
}

}  // namespace sextant::profile
