// A tool as a list of tools shows it.
#pragma once

#include "app/tool_table.h"
#include "front/mcp/json.h"

namespace sextant::front::mcp {

// Name, title, description, schemas, hints on what it does.
Json listed_tool(const app::ToolRow& row);

}  // namespace sextant::front::mcp
