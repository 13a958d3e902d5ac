// Which use cases are tools of a language model, and what of them it may ask: an assistant's over
// the Model Context Protocol, or of the model beside «tune». A row a tool; everything else of it
// comes from the use case's own table.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "app/use_case.h"

namespace sextant::app {

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
const UseCase& use_case_of(const ToolRow& row);

// What a call of the tool may give.
std::vector<Parameter> parameters_of(const ToolRow& row);

}  // namespace sextant::app
