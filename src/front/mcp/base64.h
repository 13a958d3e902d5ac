// Base64 (RFC 4648, with padding): bytes that are no text in JSON, and header values that are no
// ASCII.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sextant::front::mcp {

std::string to_base64(std::string_view bytes);
// Nothing where the text is no Base64: a foreign character, wrong padding, bits left over.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace sextant::front::mcp
