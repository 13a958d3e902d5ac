#include "explain/plot_axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::explain {
namespace {

constexpr std::array<int, 3> kMantissas{1, 2, 5};
constexpr double kSmallestValue = 1e-290;
constexpr double kLargestValue = 1e290;
// Values that stand on a round number keep their place whichever way a logarithm is rounded.
constexpr double kAxisSlack = 1e-9;

// 1, 2 or 5 times a power of ten.
struct Round {
  int mantissa = 1;
  int exponent = 0;

  [[nodiscard]] double value() const { return mantissa * std::pow(10.0, exponent); }
};

// A difference and not the logarithm of a quotient, which may be beyond what a double holds.
double decades_between(double low, double high) {
  return std::log10(high) - std::log10(low);
}

int decade_of(double value) {
  return static_cast<int>(std::floor(std::log10(value) + kAxisSlack));
}

Round at_most(double value) {
  Round best{1, decade_of(value)};
  for (const int mantissa : kMantissas) {
    const Round next{mantissa, best.exponent};
    if (next.value() <= value * (1.0 + kAxisSlack)) {
      best = next;
    }
  }
  return best;
}

Round at_least(double value) {
  const int decade = decade_of(value);
  for (const int mantissa : kMantissas) {
    const Round next{mantissa, decade};
    if (next.value() >= value * (1.0 - kAxisSlack)) {
      return next;
    }
  }
  return {1, decade + 1};
}

std::string tick_text(const Round& at) {
  constexpr int kMostZeros = 5;
  constexpr int kMostDecimals = 4;
  if (at.exponent > kMostZeros || at.exponent < -kMostDecimals) {
    return fmt::format("{}e{}", at.mantissa, at.exponent);
  }
  if (at.exponent < 0) {
    return fmt::format("{:.{}f}", at.value(), -at.exponent);
  }
  return with_thousands(std::llround(at.value()));
}

std::vector<Tick> log_ticks(double low, double high) {
  constexpr int kMostTicks = 8;
  constexpr double kMostDecadesOfThree = 2.5;  // with ticks at 1, 2 and 5
  const double decades = decades_between(low, high);
  const bool three = decades <= kMostDecadesOfThree + kAxisSlack;
  const int step = std::max(1, static_cast<int>(std::ceil(decades / kMostTicks)));
  std::vector<Tick> ticks;
  for (int exponent = decade_of(low); exponent <= decade_of(high); ++exponent) {
    if (!three && exponent % step != 0) {
      continue;
    }
    for (const int mantissa : kMantissas) {
      const Round at{mantissa, exponent};
      const bool inside =
          at.value() >= low * (1.0 - kAxisSlack) && at.value() <= high * (1.0 + kAxisSlack);
      if (inside && (three || mantissa == 1)) {
        ticks.push_back({at.value(), tick_text(at)});
      }
    }
  }
  return ticks;
}

}  // namespace

double PlotAxis::share(double value) const {
  return logarithmic ? decades_between(low, value) / decades_between(low, high)
                     : (value - low) / (high - low);
}

PlotAxis log_axis(double least, double most) {
  constexpr double kShortest = 10.0;
  Round low = at_most(std::clamp(least, kSmallestValue, kLargestValue));
  Round high = at_least(std::clamp(most, kSmallestValue, kLargestValue));
  // Room is added on both sides in turn, so that what there is stays in the middle.
  for (bool below = true; high.value() / low.value() < kShortest * (1.0 - kAxisSlack);
       below = !below) {
    if (below) {
      low = at_most(low.value() / 2.0);
    } else {
      high = at_least(high.value() * 2.0);
    }
  }
  PlotAxis axis{low.value(), high.value(), true, {}};
  axis.ticks = log_ticks(axis.low, axis.high);
  return axis;
}

PlotAxis percent_axis(std::span<const double> errors) {
  constexpr std::array<std::pair<int, int>, 7> kLimitsAndSteps{
      {{20, 5}, {30, 10}, {50, 10}, {100, 20}, {200, 50}, {500, 100}, {1000, 200}}};
  constexpr double kHeld = 0.98;
  constexpr double kPercent = 100.0;
  std::pair<int, int> chosen = kLimitsAndSteps.back();
  for (const auto& candidate : kLimitsAndSteps) {
    const auto held = std::count_if(errors.begin(), errors.end(), [&](double error) {
      return std::abs(error) * kPercent <= candidate.first;
    });
    if (static_cast<double>(held) >= kHeld * static_cast<double>(errors.size())) {
      chosen = candidate;
      break;
    }
  }
  const auto [limit, step] = chosen;
  const int low = -std::min(limit, 100);
  PlotAxis axis{static_cast<double>(low), static_cast<double>(limit), false, {}};
  for (int at = low / step * step; at <= limit; at += step) {
    axis.ticks.push_back({static_cast<double>(at), at == 0 ? "0 %" : fmt::format("{:+} %", at)});
  }
  return axis;
}

}  // namespace sextant::explain
