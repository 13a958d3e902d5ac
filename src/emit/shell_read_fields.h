// How the shell's `read` divides a line among its names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::emit {

// At most `most` fields, the last with what is left. `separators`: what IFS holds. Blanks among
// them run together and count for nothing at the ends; every other separator ends a field, and one
// at the very end is none of the last field.
// REQUIRES: most >= 1.
std::vector<std::string> read_fields(std::string_view line, std::string_view separators,
                                     std::size_t most);

}  // namespace sextant::emit
