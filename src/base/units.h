// Dimensioned quantities: seconds, bytes, floating-point operations, joules, dollars and their
// ratios.
//
// A Quantity carries the integer exponents of its five base dimensions in its type, so
// `Bytes / BytesPerSecond` *is* `Seconds`, and adding seconds to bytes does not compile
// (tests/compile_fail keeps it so). The number inside is a double: integers are exact to 2^53,
// which is 9 PB in bytes. Dividing equal dimensions gives a plain double: `t / 1_us` is t in µs.
//
// Gbit/s and GB/s are different literals of the same type: 400_Gbitps == 50_GBps.
#pragma once

#include <compare>

namespace sextant {

template <int S, int B, int F, int J, int D>
class Quantity {
 public:
  constexpr Quantity() = default;
  // The value in base units (s, byte, flop, joule, dollar). Prefer the literals below.
  constexpr explicit Quantity(double base_units) : value_(base_units) {}

  // The number in base units: for the edges (rendering, formulas over pure numbers) only.
  [[nodiscard]] constexpr double base() const { return value_; }

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) {
    value_ *= factor;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.value_); }
  friend constexpr Quantity operator*(Quantity a, double factor) { return a *= factor; }
  friend constexpr Quantity operator*(double factor, Quantity a) { return a *= factor; }
  friend constexpr Quantity operator/(Quantity a, double divisor) {
    return Quantity(a.value_ / divisor);
  }

 private:
  double value_ = 0.0;
};

namespace internal {
template <int S, int B, int F, int J, int D>
struct Dimensioned {
  using Type = Quantity<S, B, F, J, D>;
};
template <>
struct Dimensioned<0, 0, 0, 0, 0> {
  using Type = double;
};
}  // namespace internal

template <int S1, int B1, int F1, int J1, int D1, int S2, int B2, int F2, int J2, int D2>
constexpr auto operator*(Quantity<S1, B1, F1, J1, D1> a, Quantity<S2, B2, F2, J2, D2> b) {
  using Product = typename internal::Dimensioned<S1 + S2, B1 + B2, F1 + F2, J1 + J2, D1 + D2>::Type;
  return Product(a.base() * b.base());
}

template <int S1, int B1, int F1, int J1, int D1, int S2, int B2, int F2, int J2, int D2>
constexpr auto operator/(Quantity<S1, B1, F1, J1, D1> a, Quantity<S2, B2, F2, J2, D2> b) {
  using Ratio = typename internal::Dimensioned<S1 - S2, B1 - B2, F1 - F2, J1 - J2, D1 - D2>::Type;
  return Ratio(a.base() / b.base());
}

using Seconds = Quantity<1, 0, 0, 0, 0>;
using Bytes = Quantity<0, 1, 0, 0, 0>;
using Flops = Quantity<0, 0, 1, 0, 0>;
using Joules = Quantity<0, 0, 0, 1, 0>;
using Dollars = Quantity<0, 0, 0, 0, 1>;
using BytesPerSecond = Quantity<-1, 1, 0, 0, 0>;
using FlopsPerSecond = Quantity<-1, 0, 1, 0, 0>;
using FlopsPerByte = Quantity<0, -1, 1, 0, 0>;
using Hertz = Quantity<-1, 0, 0, 0, 0>;
using Watts = Quantity<-1, 0, 0, 1, 0>;
using DollarsPerSecond = Quantity<-1, 0, 0, 0, 1>;

inline namespace literals {

// One literal = one definition of a unit: suffix, type, value in base units. Both the integer and
// the floating form are defined, so 80_GB and 3.35_TBps both work.
// clang-format off
#define SEXTANT_UNIT(suffix, type, scale)                                                     \
  constexpr type operator""_##suffix(long double v) { return type(static_cast<double>(v) * (scale)); } \
  constexpr type operator""_##suffix(unsigned long long v) { return type(static_cast<double>(v) * (scale)); }
SEXTANT_UNIT(s, Seconds, 1.0)
SEXTANT_UNIT(ms, Seconds, 1e-3)
SEXTANT_UNIT(us, Seconds, 1e-6)
SEXTANT_UNIT(ns, Seconds, 1e-9)
SEXTANT_UNIT(hours, Seconds, 3600.0)
SEXTANT_UNIT(days, Seconds, 86400.0)
SEXTANT_UNIT(B, Bytes, 1.0)
SEXTANT_UNIT(KB, Bytes, 1e3)
SEXTANT_UNIT(MB, Bytes, 1e6)
SEXTANT_UNIT(GB, Bytes, 1e9)
SEXTANT_UNIT(TB, Bytes, 1e12)
SEXTANT_UNIT(KiB, Bytes, 1024.0)
SEXTANT_UNIT(MiB, Bytes, 1024.0 * 1024.0)
SEXTANT_UNIT(GiB, Bytes, 1024.0 * 1024.0 * 1024.0)
SEXTANT_UNIT(flop, Flops, 1.0)
SEXTANT_UNIT(TFLOP, Flops, 1e12)
SEXTANT_UNIT(GBps, BytesPerSecond, 1e9)
SEXTANT_UNIT(TBps, BytesPerSecond, 1e12)
SEXTANT_UNIT(Gbitps, BytesPerSecond, 1e9 / 8.0)
SEXTANT_UNIT(TFLOPps, FlopsPerSecond, 1e12)
SEXTANT_UNIT(MHz, Hertz, 1e6)
SEXTANT_UNIT(W, Watts, 1.0)
SEXTANT_UNIT(USD, Dollars, 1.0)
#undef SEXTANT_UNIT
// clang-format on

}  // namespace literals
}  // namespace sextant
