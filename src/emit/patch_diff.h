// Two versions of a file as a unified diff.
#pragma once

#include <string>
#include <string_view>

namespace sextant::emit {

// As `diff -u` writes it: three lines of context, "" where the two are equal. `patch -p0` applies
// it. Very different long files are shown as one block.
std::string unified_diff(std::string_view name, std::string_view before, std::string_view after);

}  // namespace sextant::emit
