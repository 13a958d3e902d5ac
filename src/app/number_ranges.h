// Numbers as people list them: "0,3-5".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sextant::app {

struct NumberRange {
  std::int64_t first = 0;
  std::int64_t last = 0;  // that too
  bool operator==(const NumberRange&) const = default;
};

// Whole numbers ≥ 0 and ranges of them, joined by commas; at least one. `where` names the
// parameter.
Result<std::vector<NumberRange>> number_ranges(std::string_view text, std::string_view where);
// One number or range.
Result<NumberRange> number_range(std::string_view text, std::string_view where);

bool holds(const std::vector<NumberRange>& ranges, std::int64_t number);

}  // namespace sextant::app
