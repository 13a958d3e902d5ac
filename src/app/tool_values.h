// A tool's arguments as the values of a use case: of the types its schema says, and with no way to
// a file outside what may be read (base/read_fence.h).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/tool_table.h"
#include "app/use_case.h"
#include "base/result.h"

namespace sextant::app {

// `arguments` is a JSON object. `who` asks, for the tool's author. What is in the object and is no
// parameter of the tool is an Error; `left_out` names members that are somebody else's.
Result<Values> tool_values(const ToolRow& row, std::string_view arguments, const std::string& who,
                           std::span<const std::string_view> left_out = {});

}  // namespace sextant::app
