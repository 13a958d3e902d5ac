// TOML files ↔ flat settings with dotted keys, as torchtitan 0.2.2 and before reads them.
//
// [a.b] c = [1, 2] is the setting "a.b.c" with the values "1" and "2"; of lists in lists each inner
// one is a value, joined by commas. Numbers are kept as they are spelled.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "emit/settings.h"

namespace sextant::emit {

// The given settings, a table for each section. Values that look like numbers or booleans are
// written bare. `comments`: lines for the top.
std::string render_toml(const Settings& settings, std::span<const std::string> comments = {});

// An Error where it is no TOML, or larger than 1 MiB.
Result<Settings> parse_toml(std::string_view text, std::string_view name, Dialect dialect);

}  // namespace sextant::emit
