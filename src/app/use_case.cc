#include "app/use_case.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::app {
namespace {

std::string place_of_use(const UseCase& use_case) {
  return fmt::format("«{}»", use_case.name);
}

Result<void> check_names(const UseCase& use_case, const Values& values) {
  for (const auto& [name, given] : values.given()) {
    const auto found = std::ranges::find(use_case.parameters, name, &Parameter::name);
    if (found == use_case.parameters.end()) {
      std::vector<std::string> names;
      for (const Parameter& parameter : use_case.parameters) {
        names.emplace_back(parameter.name);
      }
      const std::string hint = did_you_mean(name, names);
      return invalid(fmt::format("'{}' is not a parameter{}{}", printable(name),
                                 hint.empty() ? "" : "; ", hint),
                     place_of_use(use_case), join(names, ", "));
    }
    if (given.size() > 1 && !found->many) {
      return invalid(fmt::format("‹{}› is given {} times", name, given.size()),
                     place_of_use(use_case), "once");
    }
  }
  return {};
}

}  // namespace

Values::Values(std::initializer_list<std::pair<std::string_view, std::string_view>> given) {
  for (const auto& [name, value] : given) {
    add(name, std::string(value));
  }
}

void Values::add(std::string_view name, std::string value) {
  given_[std::string(name)].push_back(std::move(value));
}

bool Values::has(std::string_view name) const {
  return given_.contains(name);
}

std::string Values::one(std::string_view name) const {
  const auto found = given_.find(name);
  return found == given_.end() ? std::string() : found->second.front();
}

std::vector<std::string> Values::all(std::string_view name) const {
  const auto found = given_.find(name);
  return found == given_.end() ? std::vector<std::string>() : found->second;
}

const UseCase* find_use_case(std::string_view name) {
  const auto found = std::ranges::find(use_cases(), name, &UseCase::name);
  return found == use_cases().end() ? nullptr : &*found;
}

Result<Reply> ask(const UseCase& use_case, const Values& values, const Context& context,
                  const Control& control) {
  SEXTANT_CHECK_OK(check_names(use_case, values));
  for (const Parameter& parameter : use_case.parameters) {
    // What must be named as well, the use case itself asks for in its own words.
    if (parameter.required && parameter.positional && values.one(parameter.name).empty()) {
      return invalid(fmt::format("‹{}› is missing", parameter.name), place_of_use(use_case),
                     std::string(parameter.help));
    }
  }
  return use_case.run(values, context, control);
}

}  // namespace sextant::app
