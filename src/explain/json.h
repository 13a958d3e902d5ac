// The JSON side of explain/: included by its .cc files only.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "describe/assumption.h"
#include "describe/sourced.h"
#include "explain/provenance.h"

namespace sextant::explain {

using Json = nlohmann::ordered_json;

// Of the shape of a command's document; docs/interface.md says what each has.
constexpr int schema_version(std::string_view command) {
  constexpr std::array<std::string_view, 4> kThird{"check", "estimate", "estimate-sweep", "plan"};
  if (std::find(kThird.begin(), kThird.end(), command) != kThird.end()) {
    return 3;
  }
  constexpr std::array<std::string_view, 14> kFirst{
      "calibrate",  "calibrate-runs", "capture", "config",    "diagnose-hta", "diff",     "doctor",
      "emit-patch", "explain",        "kb",      "summarize", "tune",         "tune-log", "verify"};
  return std::find(kFirst.begin(), kFirst.end(), command) == kFirst.end() ? 2 : 1;
}

// {"schema": "sextant.model/2", "tool_version": …, "inputs": {…}}: more keys follow.
inline Json document(std::string_view command, const Provenance& provenance) {
  Json json;
  json["schema"] =
      "sextant." + std::string(command) + "/" + std::to_string(schema_version(command));
  json["tool_version"] = provenance.tool_version;
  json["inputs"] = Json::object();
  for (const auto& [name, hash] : provenance.inputs) {
    json["inputs"][name] = "sha256:" + hash;
  }
  return json;
}

// Indented by two, with a line's end. Defined in json.cc: the library's writer is compiled once.
std::string dumped(const Json& json);

// A sourced number with its unit in the key's name: {"value_<unit>": …, "kind": …, "source": …}.
template <typename T>
Json sourced(const describe::Sourced<T>& value, const std::string& key, double number) {
  Json json;
  json[key] = number;
  json["kind"] = describe::word_of<describe::SourceKind>(describe::kSourceKindWords, value.kind);
  json["source"] = value.source;
  return json;
}

inline Json to_json(const describe::Assumptions& assumed) {
  Json list = Json::array();
  for (const describe::Assumption& one : assumed) {
    list.push_back(
        {{"key", one.key}, {"value", one.value}, {"why", one.why}, {"source", one.source}});
  }
  return list;
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace sextant::explain
