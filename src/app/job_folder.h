// Files that a script names, as they lie in a copy of its folder: paths of a cluster seldom hold
// where the script is read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "emit/settings.h"
#include "emit/shell_script.h"

namespace sextant::app {

// Beside the script or below, or below the folder that the program is called from, as the script
// may be; at most two folders up. Of a path from the root its last parts are looked for, two of
// them at least. Nothing where it is not there.
std::optional<std::string> path_beside(const std::string& script, std::string_view named);

// The same with its text; nothing where it is too large or no text.
std::optional<emit::ShellInvocation::Found> file_beside(const std::string& script,
                                                        std::string_view named);

// The file of that name that a script writes itself.
const emit::WrittenFile* written_file(const emit::Settings& settings, std::string_view named);

}  // namespace sextant::app
