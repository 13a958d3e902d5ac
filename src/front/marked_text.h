// Texts of app name a parameter as ‹gbs› or ‹gbs SEQUENCES› and a use case as «plan»
// (app/answered.h). Each front spells these its own way.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "app/use_case.h"

namespace sextant::front {

// What stands for the words between the marks; nothing: they are no name, and stay as they are.
using Spell = std::function<std::optional<std::string>(std::string_view words)>;
struct Spelling {
  Spell parameter;
  Spell use_case;
};

std::string with_spelling(std::string_view text, const Spelling& spelling);

// Null where the use case has none of that name.
const app::Parameter* find_parameter(const app::UseCase& use_case, std::string_view name);
// Is it a setting, or a parameter of any use case?
bool is_known_parameter(std::string_view name);

}  // namespace sextant::front
