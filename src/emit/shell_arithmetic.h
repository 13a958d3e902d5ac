// What $((…)) comes to: bash's integer arithmetic on 64 bits; and what ((…)) sets.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sextant::emit {

// The value of a name in the expression, or why it has none.
using ArithmeticName = std::function<Result<std::int64_t>(std::string_view)>;

// An Error where the expression is broken, does not fit 64 bits (bash would wrap), divides by zero,
// assigns, or stands too deep in brackets. `what` of the error is a reason fit to be shown.
Result<std::int64_t> arithmetic(std::string_view expression, const ArithmeticName& value_of);

// What the name of a variable is made of.
inline constexpr std::string_view kShellNameCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
// The variables an expression sets: NAME=…, NAME+=…, NAME++.
std::vector<std::string> names_set(std::string_view expression);

}  // namespace sextant::emit
