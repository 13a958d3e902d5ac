// A tool's arguments as the values of a use case: of the types its schema says, and with no way to
// a file outside what may be read (base/read_fence.h).
#pragma once

#include <string>

#include "app/use_case.h"
#include "base/result.h"
#include "front/mcp/json.h"
#include "front/mcp/tool_table.h"

namespace sextant::front::mcp {

// `client`: who asks, for the tool's author; "": it does not say. What is in `arguments` and is no
// parameter of the tool is an Error; `detail` is left out.
Result<app::Values> values_of(const ToolRow& row, const Json& arguments, const std::string& client);

}  // namespace sextant::front::mcp
