// Shares as people read them.
#pragma once

#include <optional>
#include <string>

#include <fmt/format.h>

namespace sextant::explain {

// "12.3 %"; "-" where there is none.
inline std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", *share * 100.0) : "-";
}
// "+12.3 %"
inline std::string signed_percent(const std::optional<double>& share) {
  return share ? fmt::format("{:+.1f} %", *share * 100.0) : "-";
}

}  // namespace sextant::explain
