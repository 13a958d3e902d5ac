#include "explain/parameter_table.h"

#include <algorithm>
#include <array>
#include <cassert>

#include <fmt/format.h>

#include "explain/json.h"

namespace sextant::explain {
namespace {

struct KindWords {
  ParameterKind kind;
  std::string_view text;
  std::string_view schema_type = "string";
};
constexpr std::array kKindWords{
    KindWords{ParameterKind::kText, "text"},
    KindWords{ParameterKind::kFlag, "flag", "boolean"},
    KindWords{ParameterKind::kCount, "a whole number", "integer"},
    KindWords{ParameterKind::kNumber, "a number", "number"},
    KindWords{ParameterKind::kShare, "a share"},
    KindWords{ParameterKind::kSize, "a size in bytes"},
    KindWords{ParameterKind::kTokens, "a number of tokens"},
    KindWords{ParameterKind::kWord, "one of"},
    KindWords{ParameterKind::kWords, "some, joined by commas, of"},
    KindWords{ParameterKind::kPrefix, "begins with one of"},
    KindWords{ParameterKind::kModel, "a model"},
    KindWords{ParameterKind::kCluster, "a cluster"},
    KindWords{ParameterKind::kDevice, "a device"},
    KindWords{ParameterKind::kLayout, "a layout"},
    KindWords{ParameterKind::kFramework, "a framework"},
    KindWords{ParameterKind::kRule, "a rule or a topic"},
    KindWords{ParameterKind::kFileToRead, "a file to read"},
    KindWords{ParameterKind::kFileToWrite, "a file to write"},
    KindWords{ParameterKind::kFolderToWrite, "a folder to write to"},
};

const KindWords& kind_words(ParameterKind kind) {
  const auto* const found = std::ranges::find(kKindWords, kind, &KindWords::kind);
  assert(found != kKindWords.end());
  return *found;
}

std::string_view schema_type(ParameterKind kind) {
  return kind_words(kind).schema_type;
}

// A value of the table as the schema's type has it. REQUIRES: it is one (the tables' test).
Json schema_value(std::string_view text, ParameterKind kind) {
  return schema_type(kind) == "string" ? Json(text) : Json::parse(text);
}

Json property_of(const Parameter& parameter) {
  Json one;
  one["type"] = schema_type(parameter.kind);
  if (parameter.kind == ParameterKind::kWord) {
    one["enum"] = parameter.words;
  }
  Json property;
  if (parameter.many) {
    property["type"] = "array";
    property["items"] = std::move(one);
  } else {
    property = std::move(one);
  }
  property["description"] = help_text(parameter);
  if (!parameter.fallback.empty()) {
    property["default"] = schema_value(parameter.fallback, parameter.kind);
  }
  if (!parameter.example.empty()) {
    Json example = schema_value(parameter.example, parameter.kind);
    property["examples"] = Json::array();
    property["examples"].push_back(parameter.many ? Json::array({std::move(example)})
                                                  : std::move(example));
  }
  return property;
}

// A cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  }
  return escaped;
}

std::string code(std::string_view text) {
  return text.empty() ? std::string() : fmt::format("`{}`", cell(text));
}

std::string type_text(const Parameter& parameter) {
  std::string text(kind_text(parameter.kind));
  for (std::size_t i = 0; i < parameter.words.size(); ++i) {
    text += fmt::format("{} `{}`", i == 0 ? ":" : ",", parameter.words[i]);
  }
  return text + (parameter.many ? "; several" : "");
}

std::string page_row(const Parameter& parameter) {
  const std::string fallback = parameter.required            ? "required"
                               : !parameter.fallback.empty() ? code(parameter.fallback)
                                                             : cell(parameter.otherwise);
  return fmt::format("| `{}`{} | {} | {} | {} | {} |\n", parameter.name,
                     parameter.positional ? " (by place)" : "", type_text(parameter), fallback,
                     cell(parameter.help), code(parameter.example));
}

}  // namespace

std::string help_text(const Parameter& parameter) {
  if (!parameter.fallback.empty()) {
    return fmt::format("{} (default {})", parameter.help, parameter.fallback);
  }
  return parameter.otherwise.empty()
             ? std::string(parameter.help)
             : fmt::format("{} (default: {})", parameter.help, parameter.otherwise);
}

std::string_view kind_text(ParameterKind kind) {
  return kind_words(kind).text;
}

std::string parameters_schema(std::span<const Parameter> parameters) {
  Json schema;
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["type"] = "object";
  schema["properties"] = Json::object();
  Json required = Json::array();
  for (const Parameter& parameter : parameters) {
    schema["properties"][std::string(parameter.name)] = property_of(parameter);
    if (parameter.required) {
      required.push_back(parameter.name);
    }
  }
  schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return dumped(schema);
}

std::string parameters_page(std::span<const ParameterTable> tables) {
  std::string page =
      "# Parameters\n\n"
      "What each use case takes. Made from the program's own tables (`SEXTANT_UPDATE_PAGES=1` on "
      "the test `UseCases.ThePageIsTheTables`).\n\n"
      "On the command line a parameter is `--name VALUE`, a flag `--name`, and one that stands by "
      "place is its value alone.\n";
  for (const ParameterTable& table : tables) {
    page += fmt::format("\n## {}\n\n{}.\n\n", table.name, table.summary);
    page += "| name | type | default | what | example |\n|---|---|---|---|---|\n";
    for (const Parameter& parameter : table.parameters) {
      page += page_row(parameter);
    }
  }
  return page;
}

}  // namespace sextant::explain
