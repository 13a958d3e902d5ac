#include "front/mcp/listed_tool.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "explain/answer_schema.h"
#include "explain/parameter_table.h"
#include "front/mcp/spelling.h"

namespace sextant::front::mcp {
namespace {

bool is_written(app::ParameterKind kind) {
  return kind == app::ParameterKind::kFileToWrite || kind == app::ParameterKind::kFolderToWrite;
}

Json input_schema(const app::ToolRow& row) {
  const std::vector<app::Parameter> parameters = parameters_of(row);
  Json schema = Json::parse(tool_spelling(explain::parameters_schema(parameters)));
  for (const app::Parameter& parameter : parameters) {
    Json& property = schema["properties"][std::string(parameter.name)];
    if (is_written(parameter.kind)) {
      property["description"] =
          fmt::format("{}; a name: nothing is written, the answer links what it holds",
                      text_of(property, "description"));
    }
  }
  schema["properties"]["detail"] = {
      {"type", "string"},
      {"description",
       "a part of the answer to the same arguments: a JSON pointer (\"/plans/0\") or a page of its "
       "text (\"text:2\")"}};
  return schema;
}

Json object_of_members(std::initializer_list<std::pair<const char*, const char*>> members) {
  Json properties = Json::object();
  for (const auto& [name, type] : members) {
    properties[name] = {{"type", type}};
  }
  return {{"type", "object"}, {"properties", std::move(properties)}};
}

Json list_of(Json items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}

// Names and types alone, as every client holds all of them: what the members mean is said once
// (docs/interface.md, docs/mcp.md).
Json output_schema(const app::ToolRow& row) {
  const Json text{{"type", "string"}};
  return {
      {"type", "object"},
      {"properties",
       {{"outcome", {{"type", "string"}, {"enum", {"fine", "no", "interrupted"}}}},
        {"answer", Json::parse(explain::answer_schema(row.use_case))},
        {"left_out",
         list_of(object_of_members({{"at", "string"}, {"kept", "integer"}, {"of", "integer"}}))},
        {"notes", list_of(text)},
        {"handle", text},
        {"files", list_of(object_of_members(
                      {{"name", "string"}, {"bytes", "integer"}, {"uri", "string"}}))}}},
      {"required", {"outcome", "answer", "notes", "handle"}}};
}

std::string title_of(std::string_view name) {
  std::string title(name);
  std::ranges::replace(title, '_', ' ');
  return "Sextant: " + title;
}

}  // namespace

Json listed_tool(const app::ToolRow& row) {
  const app::UseCase& use_case = app::use_case_of(row);
  return {{"name", row.name},
          {"title", title_of(row.name)},
          {"description", tool_spelling(fmt::format("{}. {}", use_case.summary, row.hint))},
          {"inputSchema", input_schema(row)},
          {"outputSchema", output_schema(row)},
          {"annotations",
           {{"readOnlyHint", !row.writes},
            {"destructiveHint", false},
            {"idempotentHint", !row.writes},
            {"openWorldHint", false}}}};
}

}  // namespace sextant::front::mcp
