// Answers cut to what fits a context window. What is cut is said, with where to ask for it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "front/mcp/json.h"

namespace sextant::front::mcp {

// Of a list, an object or a text of the value at `at` (a JSON pointer), `kept` of `of` members or
// bytes stayed; none: it stands as null.
struct Cut {
  std::string at;
  std::size_t kept = 0;
  std::size_t of = 0;
};

struct Shortened {
  Json value;
  std::vector<Cut> cuts;  // at most kMostCuts, in the value's order; below a cut nothing is said
};
inline constexpr std::size_t kMostCuts = 24;

// Whole where it takes no more than `most` bytes on one line. Else its long lists keep their first
// members, its long texts their beginning and what is nested deepest goes, until it fits, or
// nothing more can be cut.
Shortened shortened(const Json& value, std::size_t most);

}  // namespace sextant::front::mcp
