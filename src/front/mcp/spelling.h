// How the protocol spells what app names: a parameter as `gbs`, a use case by its tool.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sextant::front::mcp {

std::string tool_spelling(std::string_view text);
// "where: what (allowed: …)", so spelled.
std::string tool_spelling(const Error& error);

}  // namespace sextant::front::mcp
