#include "explain/answer_schema.h"

#include <fmt/format.h>

#include "explain/answer_fields.h"
#include "explain/json.h"

namespace sextant::explain {
namespace {

// Where a use case has other documents than the one of its name.
struct Documents {
  std::string_view use_case;
  std::vector<std::string_view> names;
};
const std::vector<Documents>& documents() {
  static const std::vector<Documents> kDocuments{
      {"estimate",
       {"estimate", "estimate-sweep", "estimate-collective", "estimate-collective-sweep"}},
      {"compare", {"compare", "compare-runs"}},
      {"emit", {"emit", "emit-patch"}},
      {"diagnose", {"diagnose", "diagnose-hta"}},
      {"tune", {"tune", "tune-log"}},
      {"calibrate", {"calibrate", "calibrate-comm", "calibrate-runs"}}};
  return kDocuments;
}

// Any of them may be left out, or cut to null, where an answer is shortened.
Json type_of(char type) {
  switch (type) {
    case 's':
      return {"string", "null"};
    case 'n':
      return {"number", "null"};
    case 'b':
      return {"boolean", "null"};
    case 'o':
      return {"object", "null"};
    case 'a':
      return {"array", "null"};
    default:
      return nullptr;
  }
}

Json schema_of_field(const AnswerField& field) {
  Json schema = Json::object();
  if (Json type = type_of(field.type); !type.is_null()) {
    schema["type"] = std::move(type);
  }
  Json members = Json::object();
  for (const std::string_view name : field.members) {
    members[std::string(name)] = Json::object();
  }
  if (!members.empty() && field.type == 'a') {
    schema["items"]["properties"] = std::move(members);
  } else if (!members.empty()) {
    schema["properties"] = std::move(members);
  }
  return schema;
}

// What two documents of one use case have under one name, each in its way, is not told further.
void add_fields(std::string_view document, Json& properties) {
  for (const AnswerField& field : answer_fields(document)) {
    const std::string name(field.name);
    Json schema = schema_of_field(field);
    if (!properties.contains(name)) {
      properties[name] = std::move(schema);
    } else if (properties[name] != schema) {
      properties[name] = Json::object();
    }
  }
}

}  // namespace

std::string answer_schema(std::string_view use_case) {
  Json schemas = Json::array();
  Json properties = Json::object();
  properties["schema"] = Json::object();  // the first
  properties["tool_version"] = {{"type", "string"}};
  properties["inputs"] = {{"type", {"object", "null"}}};
  const auto add = [&](std::string_view name) {
    schemas.push_back(fmt::format("sextant.{}/{}", name, schema_version(name)));
    add_fields(name, properties);
  };
  const auto found = std::ranges::find(documents(), use_case, &Documents::use_case);
  if (found == documents().end()) {
    add(use_case);
  } else {
    std::ranges::for_each(found->names, add);
  }
  schemas.push_back("sextant.text/1");
  Json schema;
  schema["type"] = "object";
  properties["schema"] = {{"enum", std::move(schemas)}};
  properties["text"] = {{"type", "string"}};
  // Of a part that was asked for by itself.
  properties["at"] = {{"type", "string"}};
  properties["value"] = Json::object();
  properties["pages"] = {{"type", "integer"}};
  schema["properties"] = std::move(properties);
  schema["required"] = {"schema"};
  return dumped(schema);
}

}  // namespace sextant::explain
