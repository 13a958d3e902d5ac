#include "describe/words.h"

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::describe {

tl::unexpected<Error> unknown_word(std::string_view text, std::vector<std::string> allowed,
                                   std::string_view what, std::string_view where) {
  const std::string hint = did_you_mean(text, allowed);
  return invalid(fmt::format("'{}' is not a known {}{}{}", printable(text), what,
                             hint.empty() ? "" : "; ", hint),
                 std::string(where), join(allowed, ", "));
}

std::string lower_case(std::string_view text) {
  return to_lower(text);
}

}  // namespace sextant::describe
