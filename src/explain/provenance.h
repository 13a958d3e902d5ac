// What every machine-readable answer begins with: schema, tool version, and the inputs it was made
// from.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant::explain {

struct Provenance {
  std::string tool_version;
  // Name of each input and the SHA-256 of its bytes.
  std::vector<std::pair<std::string, std::string>> inputs;
};

// The program's version, "0.1.0".
std::string_view tool_version();

}  // namespace sextant::explain
