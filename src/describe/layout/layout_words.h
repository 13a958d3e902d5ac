// A layout in as few words as bring it back.
#pragma once

#include <string>
#include <string_view>

#include "describe/layout/layout.h"

namespace sextant::describe {

// What parse_layout reads back to the same value under the framework's defaults: to_text, and the
// keys that those defaults would set otherwise.
std::string layout_words(const Layout& layout, Framework framework);

// The value of one key, as layouts write it; "" where there is no such key.
std::string value_of(const Layout& layout, std::string_view key);

}  // namespace sextant::describe
