// Python's numbers: literals, and what arithmetic makes of them. What does not fit is nothing,
// never rounded.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sextant::emit::python {

// "8_192", "0x2000".
std::optional<std::int64_t> integer_of(std::string_view text);
std::optional<double> real_of(std::string_view text);

// a symbol b, for + - * ** // % of whole numbers and + - * / of others; nothing for any other
// symbol, where there is no whole result, and where it does not fit.
std::optional<std::int64_t> whole_result(std::string_view symbol, std::int64_t a, std::int64_t b);
std::optional<double> real_result(std::string_view symbol, double a, double b);

}  // namespace sextant::emit::python
