// How the command line spells what app names: ‹gbs› is --gbs, ‹gbs SEQUENCES› is --gbs SEQUENCES,
// ‹model› is MODEL where it stands by place, «plan» is sextant plan.
#pragma once

#include <string>
#include <string_view>

#include "app/use_case.h"
#include "base/result.h"

namespace sextant::front {

std::string spelled(const app::UseCase& use_case, const app::Parameter& parameter);
// A command line.
std::string spelled(const app::UseCase& use_case, const app::Example& example);

// A text of app with every name in it spelled. Marks around what is no name stay.
std::string spelled_text(const app::UseCase& use_case, std::string_view text);
Error spelled_error(const app::UseCase& use_case, Error error);

}  // namespace sextant::front
