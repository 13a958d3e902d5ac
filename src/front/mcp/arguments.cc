#include "front/mcp/arguments.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/read_fence.h"
#include "base/text.h"

namespace sextant::front::mcp {
namespace {

using app::Parameter;
using app::ParameterKind;

Result<std::string> word_of(const Parameter& parameter, const Json& value) {
  const bool is_number =
      parameter.kind == ParameterKind::kNumber || parameter.kind == ParameterKind::kCount;
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (first_invalid_utf8(text)) {
      return invalid("holds a NUL byte", fmt::format("`{}`", parameter.name));
    }
    return text;
  }
  if (value.is_number_integer() || (value.is_number() && is_number)) {
    return value.dump();
  }
  return invalid(fmt::format("is {}", value.type_name()), fmt::format("`{}`", parameter.name),
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

Result<void> add_word(const Parameter& parameter, const Json& value, app::Values& values) {
  SEXTANT_TRY(std::string word, word_of(parameter, value));
  SEXTANT_CHECK_OK(check_place(parameter, word));
  values.add(parameter.name, std::move(word));
  return {};
}

Result<void> add_value(const Parameter& parameter, const Json& value, app::Values& values) {
  if (value.is_null()) {
    return {};
  }
  if (parameter.kind == ParameterKind::kFlag) {
    if (!value.is_boolean()) {
      return invalid(fmt::format("is {}", value.type_name()), fmt::format("`{}`", parameter.name),
                     "true or false");
    }
    if (value.get<bool>()) {
      values.add(parameter.name, "1");
    }
    return {};
  }
  if (!parameter.many || !value.is_array()) {
    return add_word(parameter, value, values);
  }
  for (const Json& one : value) {
    SEXTANT_CHECK_OK(add_word(parameter, one, values));
  }
  return {};
}

}  // namespace

Result<app::Values> values_of(const ToolRow& row, const Json& arguments,
                              const std::string& client) {
  const std::vector<Parameter> parameters = parameters_of(row);
  app::Values values;
  for (const auto& [name, value] : arguments.items()) {
    if (name == "detail") {
      continue;
    }
    const auto found = std::ranges::find(parameters, name, &Parameter::name);
    if (found == parameters.end()) {
      std::vector<std::string> names;
      std::ranges::transform(parameters, std::back_inserter(names),
                             [](const Parameter& one) { return std::string(one.name); });
      const std::string hint = did_you_mean(name, names);
      return invalid(
          fmt::format("`{}` is no argument{}{}", printable(name), hint.empty() ? "" : "; ", hint),
          fmt::format("`{}`", row.name), join(names, ", "));
    }
    SEXTANT_CHECK_OK(add_value(*found, value, values));
  }
  for (const auto& [name, value] : row.fixed) {
    values.add(name, std::string(value));
  }
  if (!row.author.empty()) {
    values.add(row.author, "mcp: " + printable(client.empty() ? "an unnamed client" : client));
  }
  return values;
}

}  // namespace sextant::front::mcp
