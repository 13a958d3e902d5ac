#include "base/quantity_text.h"

#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant {
namespace {

struct Unit {
  std::string_view name;
  double scale;
};

constexpr double kKibi = 1024.0;
constexpr std::array kTimeUnits{Unit{"s", 1.0},   Unit{"ms", 1e-3},  Unit{"us", 1e-6},
                                Unit{"ns", 1e-9}, Unit{"h", 3600.0}, Unit{"days", 86400.0}};
constexpr std::array kByteUnits{Unit{"B", 1.0},
                                Unit{"KB", 1e3},
                                Unit{"MB", 1e6},
                                Unit{"GB", 1e9},
                                Unit{"TB", 1e12},
                                Unit{"KiB", kKibi},
                                Unit{"MiB", kKibi* kKibi},
                                Unit{"GiB", kKibi* kKibi* kKibi},
                                Unit{"TiB", kKibi* kKibi* kKibi* kKibi}};
constexpr std::array kRateUnits{Unit{"GB/s", 1e9},         Unit{"TB/s", 1e12},
                                Unit{"MB/s", 1e6},         Unit{"GiB/s", kKibi* kKibi* kKibi},
                                Unit{"Gbit/s", 1e9 / 8.0}, Unit{"Mbit/s", 1e6 / 8.0},
                                Unit{"Tbit/s", 1e12 / 8.0}};
constexpr std::array kFlopUnits{Unit{"GFLOP/s", 1e9}, Unit{"TFLOP/s", 1e12}, Unit{"PFLOP/s", 1e15}};
constexpr std::array kFrequencyUnits{Unit{"Hz", 1.0}, Unit{"MHz", 1e6}, Unit{"GHz", 1e9}};
constexpr std::array kPowerUnits{Unit{"W", 1.0}, Unit{"kW", 1e3}};
constexpr std::array kPriceUnits{Unit{"USD/h", 1.0 / 3600.0}};
constexpr std::array kCountUnits{Unit{"count", 1.0}};
constexpr std::array kRatioUnits{Unit{"ratio", 1.0}};

std::string names(std::span<const Unit> units) {
  std::string text = "a number and one of";
  for (const Unit& unit : units) {
    text += ' ';
    text += unit.name;
  }
  return text;
}

Result<double> parse(std::string_view text, std::string_view where, std::span<const Unit> units) {
  const std::string_view clean = trimmed(text);
  const std::size_t digits = clean.find_first_not_of("0123456789.+-eE");
  const std::string_view number = trimmed(clean.substr(0, digits));
  const std::string_view unit_name =
      digits == std::string_view::npos ? std::string_view() : trimmed(clean.substr(digits));
  const auto value = to_double(number);
  if (!value || *value < 0.0) {
    return invalid(fmt::format("'{}' is not a number of at least 0 with a unit", printable(text)),
                   std::string(where), names(units));
  }
  for (const Unit& unit : units) {
    if (unit.name == unit_name) {
      const double scaled = *value * unit.scale;
      if (!std::isfinite(scaled)) {
        return invalid(fmt::format("'{}' is too large", printable(text)), std::string(where));
      }
      return scaled;
    }
  }
  return invalid(unit_name.empty()
                     ? fmt::format("'{}' has no unit", printable(text))
                     : fmt::format("'{}' is not a unit known here", printable(unit_name)),
                 std::string(where), names(units));
}

struct Scale {
  double factor;
  std::string_view unit;
};

// The largest unit that leaves at least 1 before the point; units are given from large to small.
std::string scaled_text(double value, std::span<const Scale> scales) {
  for (const Scale& scale : scales) {
    if (std::abs(value) >= scale.factor) {
      return fmt::format("{:.4g} {}", value / scale.factor, scale.unit);
    }
  }
  return fmt::format("{:.4g} {}", value / scales.back().factor, scales.back().unit);
}

}  // namespace

Result<Seconds> parse_seconds(std::string_view text, std::string_view where) {
  return parse(text, where, kTimeUnits).map([](double v) { return Seconds(v); });
}
Result<Bytes> parse_bytes(std::string_view text, std::string_view where) {
  return parse(text, where, kByteUnits).map([](double v) { return Bytes(v); });
}
Result<BytesPerSecond> parse_bytes_per_second(std::string_view text, std::string_view where) {
  return parse(text, where, kRateUnits).map([](double v) { return BytesPerSecond(v); });
}
Result<FlopsPerSecond> parse_flops_per_second(std::string_view text, std::string_view where) {
  return parse(text, where, kFlopUnits).map([](double v) { return FlopsPerSecond(v); });
}
Result<Hertz> parse_hertz(std::string_view text, std::string_view where) {
  return parse(text, where, kFrequencyUnits).map([](double v) { return Hertz(v); });
}
Result<Watts> parse_watts(std::string_view text, std::string_view where) {
  return parse(text, where, kPowerUnits).map([](double v) { return Watts(v); });
}
Result<DollarsPerSecond> parse_dollars_per_second(std::string_view text, std::string_view where) {
  return parse(text, where, kPriceUnits).map([](double v) { return DollarsPerSecond(v); });
}

Result<std::int64_t> parse_count(std::string_view text, std::string_view where) {
  constexpr double kLargestCount = 1e15;
  SEXTANT_TRY(const double value, parse(text, where, kCountUnits));
  if (value != std::floor(value) || value > kLargestCount) {
    return invalid(fmt::format("'{}' is not a whole number", printable(text)), std::string(where),
                   "a whole number and the unit count");
  }
  return static_cast<std::int64_t>(value);
}

Result<double> parse_ratio(std::string_view text, std::string_view where) {
  return parse(text, where, kRatioUnits);
}

std::string to_text(Seconds value) {
  static constexpr std::array kScales{Scale{86400.0, "days"}, Scale{1.0, "s"}, Scale{1e-3, "ms"},
                                      Scale{1e-6, "us"}, Scale{1e-9, "ns"}};
  return scaled_text(value.base(), kScales);
}
std::string to_text(Bytes value) {
  static constexpr std::array kScales{
      Scale{kKibi * kKibi * kKibi * kKibi, "TiB"}, Scale{kKibi * kKibi * kKibi, "GiB"},
      Scale{kKibi * kKibi, "MiB"}, Scale{kKibi, "KiB"}, Scale{1.0, "B"}};
  return scaled_text(value.base(), kScales);
}
std::string to_text(BytesPerSecond value) {
  static constexpr std::array kScales{Scale{1e12, "TB/s"}, Scale{1e9, "GB/s"}, Scale{1e6, "MB/s"},
                                      Scale{1.0, "B/s"}};
  return scaled_text(value.base(), kScales);
}
std::string to_text(FlopsPerSecond value) {
  static constexpr std::array kScales{Scale{1e15, "PFLOP/s"}, Scale{1e12, "TFLOP/s"},
                                      Scale{1e9, "GFLOP/s"}, Scale{1.0, "FLOP/s"}};
  return scaled_text(value.base(), kScales);
}
std::string to_text(Watts value) {
  return fmt::format("{:.4g} W", value.base());
}
std::string to_text(Hertz value) {
  static constexpr std::array kScales{Scale{1e9, "GHz"}, Scale{1e6, "MHz"}, Scale{1.0, "Hz"}};
  return scaled_text(value.base(), kScales);
}

}  // namespace sextant
