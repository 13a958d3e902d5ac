// Text that anybody may have written, fit to be shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "explain/style.h"

namespace sextant::explain {

// Control characters as their codes, letters that turn a line around as '?', markup of Markdown as
// text; cut at `limit` characters.
std::string shown_text(std::string_view text, std::size_t limit, const Style& style);

}  // namespace sextant::explain
