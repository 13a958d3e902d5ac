#include "metrics/spread.h"

#include <cmath>

namespace sextant::metrics {
namespace {

// What double has of 2^64 and more is whole already.
constexpr double kTwoTo64 = 18446744073709551616.0;
constexpr std::uint64_t kLowHalf = 0xffffffffU;

struct Product {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
};

// Schoolbook, in halves of 32 bits.
Product product_of(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t low = (a & kLowHalf) * (b & kLowHalf);
  const std::uint64_t middle = (a >> 32U) * (b & kLowHalf) + (low >> 32U);
  const std::uint64_t other = (a & kLowHalf) * (b >> 32U) + (middle & kLowHalf);
  return {(a >> 32U) * (b >> 32U) + (middle >> 32U) + (other >> 32U),
          (other << 32U) | (low & kLowHalf)};
}

}  // namespace

void WideSum::add_product(std::uint64_t a, std::uint64_t b) {
  const Product product = product_of(a, b);
  *this += WideSum(product.high, product.low);
}

void WideSum::add(double value) {
  if (!(value >= 1.0) || value >= kTwoTo64 * kTwoTo64) {
    return;
  }
  const double high = std::floor(value / kTwoTo64);
  *this += WideSum(static_cast<std::uint64_t>(high),
                   static_cast<std::uint64_t>(value - high * kTwoTo64));
}

WideSum& WideSum::operator+=(const WideSum& other) {
  low_ += other.low_;
  high_ += other.high_ + (low_ < other.low_ ? 1 : 0);
  return *this;
}

double WideSum::value() const {
  return static_cast<double>(high_) * kTwoTo64 + static_cast<double>(low_);
}

Spread& Spread::operator+=(const Spread& other) {
  if (other.count == 0) {
    return *this;
  }
  min_ns = count == 0 ? other.min_ns : std::min(min_ns, other.min_ns);
  max_ns = std::max(max_ns, other.max_ns);
  count += other.count;
  total_ns += std::min(other.total_ns, std::numeric_limits<std::int64_t>::max() - total_ns);
  squares += other.squares;
  return *this;
}

double Spread::mean_ns() const {
  return count == 0 ? 0.0 : static_cast<double>(total_ns) / static_cast<double>(count);
}

double Spread::deviation_ns() const {
  if (count < 2) {
    return 0.0;
  }
  // n Σx² − (Σx)² is exact in 128 bits where both are; only then is it rounded.
  const auto times = static_cast<std::uint64_t>(count);
  const Product low = product_of(squares.low(), times);
  const std::uint64_t high = low.high + squares.high() * times;
  const auto sum = static_cast<std::uint64_t>(total_ns);
  const Product square = product_of(sum, sum);
  const bool borrows = low.low < square.low;
  const WideSum difference(high - square.high - (borrows ? 1 : 0), low.low - square.low);
  const auto n = static_cast<double>(count);
  return std::sqrt(difference.value() / (n * (n - 1)));
}

}  // namespace sextant::metrics
