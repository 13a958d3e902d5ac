// Which use cases are tools, and what of them an assistant may ask. A row a tool; everything else
// of it comes from the use case's own table.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "app/use_case.h"
#include "front/mcp/json.h"

namespace sextant::front::mcp {

struct ToolRow {
  std::string_view name;
  std::string_view use_case;
  std::string_view hint;  // when to ask it, and what it costs
  // Only these parameters; empty: all but `hidden`.
  std::vector<std::string_view> only = {};
  std::vector<std::string_view> hidden = {};
  // Given with every call, and no parameters of the tool.
  std::vector<std::pair<std::string_view, std::string_view>> fixed = {};
  // The parameter that says who asks; "": none.
  std::string_view author = {};
  bool writes = false;  // the knowledge base: only where that was allowed
};

// In the order of the list of tools.
const std::vector<ToolRow>& tool_rows();
// Null where there is none of that name.
const ToolRow* find_tool_row(std::string_view name);
// REQUIRES: the row's use case is there.
const app::UseCase& use_case_of(const ToolRow& row);

// What a call of the tool may give.
std::vector<app::Parameter> parameters_of(const ToolRow& row);

// As a list of tools shows it: name, title, description, schemas, hints on what it does.
Json listed_tool(const ToolRow& row);

}  // namespace sextant::front::mcp
