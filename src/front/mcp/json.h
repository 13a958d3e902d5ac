// The JSON side of the protocol: included within front/mcp only.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace sextant::front::mcp {

using Json = nlohmann::ordered_json;

// On one line; bytes that are not UTF-8 are replaced, so that it is always a message.
std::string one_line(const Json& json);

// A member that is text, or "".
std::string text_of(const Json& object, std::string_view key);
// A member that is an object, or an empty one.
const Json& object_of(const Json& object, std::string_view key);

}  // namespace sextant::front::mcp
