#include "front/mcp/spelling.h"

#include <fmt/format.h>

#include "front/marked_text.h"

namespace sextant::front::mcp {
namespace {

// "gbs", or "gbs SEQUENCES".
std::optional<std::string> tool_parameter(std::string_view words) {
  const std::size_t space = words.find(' ');
  const std::string_view name = words.substr(0, space);
  if (!is_known_parameter(name)) {
    return std::nullopt;
  }
  const std::string_view value =
      space == std::string_view::npos ? std::string_view() : words.substr(space);
  return fmt::format("`{}`{}", name, value);
}

// A use case of several tools is spelled by its own name.
std::optional<std::string> tool_word(std::string_view name) {
  if (app::find_use_case(name) == nullptr) {
    return std::nullopt;
  }
  return fmt::format("`{}`", name);
}

}  // namespace

std::string tool_spelling(std::string_view text) {
  return with_spelling(text, {.parameter = tool_parameter, .use_case = tool_word});
}

std::string tool_spelling(const Error& error) {
  return tool_spelling(to_text(error));
}

}  // namespace sextant::front::mcp
