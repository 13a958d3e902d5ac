// JSON with comments → plain JSON. Inside of tree_file.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sextant::emit {

// The text with comments, tabs between values and commas before a closing bracket turned into
// spaces: as long as before. Bare words and single quotes, which hjson has and JSON has not, are an
// Error that says so; other broken JSON is left for the parser.
Result<std::string> plain_json(std::string_view text, std::string_view name);

}  // namespace sextant::emit
