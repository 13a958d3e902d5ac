#include "explain/answer_schema.h"

#include <fmt/format.h>

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

}  // namespace

std::string answer_schema(std::string_view use_case) {
  Json schemas = Json::array();
  const auto add = [&](std::string_view name) {
    schemas.push_back(fmt::format("sextant.{}/{}", name, schema_version(name)));
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
  schema["properties"]["schema"] = {{"enum", std::move(schemas)}};
  schema["required"] = {"schema"};
  return dumped(schema);
}

}  // namespace sextant::explain
