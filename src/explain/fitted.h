// Text as wide as a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "explain/style.h"

namespace sextant::explain {

// Lines longer than `width` go on below, indented to where their last field began (after two spaces
// or more), else by two more than themselves. Broken after a space, a comma or a plus, and inside a
// word only where it is longer than a line. Terminal attributes take no room. 0: as it is.
std::string fitted(std::string_view text, std::size_t width);

// The same of a table's text for the style; other formats as they are.
std::string fitted(std::string_view text, const Style& style);

}  // namespace sextant::explain
