#include "front/cli/spelling.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "front/marked_text.h"

namespace sextant::front {
namespace {

// Where the command line's word is not the parameter's name.
struct OwnSpelling {
  std::string_view use_case;
  std::string_view parameter;
  std::string_view spelled;
};
// MODEL stands by place there, and is a log's name as well.
constexpr std::array kOwnSpellings{OwnSpelling{"compare", "log-model", "--model"}};

std::string upper_case(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return upper;
}

// A setting that every command takes, as parse.cc has it.
std::string setting_words(std::string_view name, std::string_view value) {
  if (name == "output") {
    return value == "json" ? "--json" : fmt::format("-o {}", value);
  }
  return fmt::format("--{} {}", name, value);
}

// "gbs", or "gbs SEQUENCES": with a value, which is all that is said of what stands by place.
std::optional<std::string> parameter_word(const app::UseCase& use_case, std::string_view words) {
  const std::size_t space = words.find(' ');
  const std::string_view name = words.substr(0, space);
  const std::string value(space == std::string_view::npos ? std::string_view()
                                                          : words.substr(space));
  if (const app::Parameter* parameter = find_parameter(use_case, name)) {
    return parameter->positional && !value.empty() ? value.substr(1)
                                                   : spelled(use_case, *parameter) + value;
  }
  return is_known_parameter(name) ? std::optional(fmt::format("--{}{}", name, value))
                                  : std::nullopt;
}

std::optional<std::string> use_case_word(std::string_view name) {
  return app::find_use_case(name) != nullptr ? std::optional(fmt::format("sextant {}", name))
                                             : std::nullopt;
}

}  // namespace

std::string spelled(const app::UseCase& use_case, const app::Parameter& parameter) {
  for (const OwnSpelling& own : kOwnSpellings) {
    if (own.use_case == use_case.name && own.parameter == parameter.name) {
      return std::string(own.spelled);
    }
  }
  return parameter.positional ? upper_case(parameter.name) : fmt::format("--{}", parameter.name);
}

std::string spelled(const app::UseCase& use_case, const app::Example& example) {
  const app::UseCase* const other = app::find_use_case(example.use_case);
  const app::UseCase& of = other != nullptr ? *other : use_case;
  std::string line = fmt::format("sextant {}", of.name);
  for (const auto& [name, value] : example.given) {
    const app::Parameter* parameter = find_parameter(of, name);
    if (parameter == nullptr) {
      line += " " + setting_words(name, value);
      continue;
    }
    if (!parameter->positional) {
      line += " " + spelled(of, *parameter);
    }
    line += value.empty() ? "" : fmt::format(" {}", value);
  }
  return line + (example.into.empty() ? "" : fmt::format(" > {}", example.into));
}

std::string spelled_text(const app::UseCase& use_case, std::string_view text) {
  return with_spelling(
      text, {.parameter = [&](std::string_view words) { return parameter_word(use_case, words); },
             .use_case = use_case_word});
}

Error spelled_error(const app::UseCase& use_case, Error error) {
  error.what = spelled_text(use_case, error.what);
  error.where = spelled_text(use_case, error.where);
  error.allowed = spelled_text(use_case, error.allowed);
  return error;
}

}  // namespace sextant::front
