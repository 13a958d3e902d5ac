#include "app/tool_values.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/read_fence.h"
#include "base/text.h"
#include "describe/json_value.h"

namespace sextant::app {
namespace {

using describe::JsonValue;

std::string quoted_parameter(const Parameter& parameter) {
  return fmt::format("‹{}›", parameter.name);
}

std::string_view kind_name(const JsonValue& value) {
  switch (value.kind()) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBoolean:
      return "boolean";
    case JsonValue::Kind::kNumber:
      return "number";
    case JsonValue::Kind::kString:
      return "string";
    case JsonValue::Kind::kArray:
      return "array";
    case JsonValue::Kind::kObject:
      break;
  }
  return "object";
}

Result<std::string> word_of(const Parameter& parameter, const JsonValue& value) {
  const bool is_number =
      parameter.kind == ParameterKind::kNumber || parameter.kind == ParameterKind::kCount;
  if (value.kind() == JsonValue::Kind::kString) {
    const auto text = value.text();
    if (!text || first_invalid_utf8(*text)) {
      return invalid("holds a NUL byte", quoted_parameter(parameter));
    }
    return *text;
  }
  if (value.kind() == JsonValue::Kind::kNumber) {
    std::string number = value.json();
    if (is_number || number.find_first_of(".eE") == std::string::npos) {
      return number;
    }
  }
  return invalid(fmt::format("is {}", kind_name(value)), quoted_parameter(parameter),
                 std::string(explain::kind_text(parameter.kind)));
}

// "3=worker.json": the file. Ranks are digits.
std::string_view file_part(std::string_view word) {
  const std::size_t equals = word.find('=');
  const bool has_rank = equals != std::string_view::npos && equals > 0 &&
                        std::ranges::all_of(word.substr(0, equals), is_digit);
  return has_rank ? word.substr(equals + 1) : word;
}

bool leads_up(std::string_view path) {
  return std::ranges::any_of(split(path, '/'), [](std::string_view part) { return part == ".."; });
}

// Is a model or a cluster given by a file, rather than by name?
bool names_file(std::string_view word) {
  return word == "-" || word.find('/') != std::string_view::npos || word.ends_with(".json") ||
         word.ends_with(".toml");
}

Result<void> check_place(const Parameter& parameter, std::string_view word) {
  const bool is_file = parameter.kind == ParameterKind::kFileToRead;
  const bool may_be_file = parameter.kind == ParameterKind::kModel ||
                           parameter.kind == ParameterKind::kCluster ||
                           parameter.kind == ParameterKind::kDevice;
  if (!is_file && !(may_be_file && names_file(word))) {
    return {};
  }
  const std::string_view path = is_file ? file_part(word) : word;
  const std::size_t wild = path.find_first_of("*?[");
  if (wild != std::string_view::npos && leads_up(path)) {
    return invalid("a pattern with '..' in it", printable(path), "a pattern below one folder");
  }
  const std::string_view literal = path.substr(0, wild);
  return may_read(literal.empty() ? "." : literal);
}

Result<void> add_word(const Parameter& parameter, const JsonValue& value, Values& values) {
  SEXTANT_TRY(std::string word, word_of(parameter, value));
  SEXTANT_CHECK_OK(check_place(parameter, word));
  values.add(parameter.name, std::move(word));
  return {};
}

Result<void> add_value(const Parameter& parameter, const JsonValue& value, Values& values) {
  if (value.kind() == JsonValue::Kind::kNull) {
    return {};
  }
  if (parameter.kind == ParameterKind::kFlag) {
    const auto given = value.boolean();
    if (!given) {
      return invalid(fmt::format("is {}", kind_name(value)), quoted_parameter(parameter),
                     "true or false");
    }
    if (*given) {
      values.add(parameter.name, "1");
    }
    return {};
  }
  if (!parameter.many || value.kind() != JsonValue::Kind::kArray) {
    return add_word(parameter, value, values);
  }
  for (const JsonValue& one : value.elements()) {
    SEXTANT_CHECK_OK(add_word(parameter, one, values));
  }
  return {};
}

tl::unexpected<Error> no_argument(const ToolRow& row, const std::string& name,
                                  const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  std::ranges::transform(parameters, std::back_inserter(names),
                         [](const Parameter& one) { return std::string(one.name); });
  const std::string hint = did_you_mean(name, names);
  return invalid(
      fmt::format("'{}' is no argument{}{}", printable(name), hint.empty() ? "" : "; ", hint),
      std::string(row.name), join(names, ", "));
}

}  // namespace

Result<Values> tool_values(const ToolRow& row, std::string_view arguments, const std::string& who,
                           std::span<const std::string_view> left_out) {
  SEXTANT_TRY(const JsonValue object, JsonValue::parse(arguments, "the arguments"));
  if (object.kind() != JsonValue::Kind::kObject) {
    return invalid(fmt::format("is {}", kind_name(object)), "the arguments", "an object");
  }
  const std::vector<Parameter> parameters = parameters_of(row);
  Values values;
  for (const std::string& name : object.keys()) {
    if (std::ranges::find(left_out, name) != left_out.end()) {
      continue;
    }
    const auto found = std::ranges::find(parameters, name, &Parameter::name);
    if (found == parameters.end()) {
      return no_argument(row, name, parameters);
    }
    if (const auto value = object.member(name)) {  // null counts as not given
      SEXTANT_CHECK_OK(add_value(*found, *value, values));
    }
  }
  for (const auto& [name, value] : row.fixed) {
    values.add(name, std::string(value));
  }
  if (!row.author.empty()) {
    values.add(row.author, who);
  }
  return values;
}

}  // namespace sextant::app
