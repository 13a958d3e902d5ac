#include "app/calibrate_notes.h"

#include <fmt/format.h>

namespace sextant::app {

std::string use_text(const std::string& folder) {
  const std::string named = folder.empty() ? "." : folder;
  return fmt::format(
      "use them: add ‹data› {} to any command, or data = \"{}\" to the configuration file", named,
      named);
}

}  // namespace sextant::app
