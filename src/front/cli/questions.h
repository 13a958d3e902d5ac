// Questions that a person types while an answer is at hand: a line each, until an empty one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sextant::front {

// Shows the text where a person looks (standard error: the answer's own place is standard output)
// and reads a line of standard input; nothing at its end, or where the line is empty.
std::optional<std::string> next_question(std::string_view so_far);

}  // namespace sextant::front
