// ‹top› as a person says it: rows of a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace sextant::app {

// Nothing of "".
Result<std::optional<std::int64_t>> rows_asked(const std::string& word);

}  // namespace sextant::app
