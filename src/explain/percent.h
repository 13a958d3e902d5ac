// Shares and correlations as people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::explain {

// "12.3 %"; "-" where there is none.
inline std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", *share * 100.0) : "-";
}
// "+12.3 %"
inline std::string signed_percent(const std::optional<double>& share) {
  return share ? fmt::format("{:+.1f} %", *share * 100.0) : "-";
}
// "5 of 7" where the other two are refused, "5" where none are.
inline std::string part_of_all(std::int64_t part, std::int64_t others) {
  return others == 0 ? with_thousands(part)
                     : fmt::format("{} of {}", with_thousands(part), with_thousands(part + others));
}
// "0.83"; "-" where there is none.
inline std::string correlation(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

}  // namespace sextant::explain
