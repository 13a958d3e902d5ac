// A program's arguments in a launch script → settings, dialect by dialect.
#pragma once

#include <span>

#include "emit/settings.h"
#include "emit/shell_program.h"
#include "emit/shell_script.h"

namespace sextant::emit {

// Adds to the settings' given, launch ("config_file") and unresolved. REQUIRES: settings.dialect is
// the command's.
void add_arguments(const ShellScript& script, const TrainingCommand& found, Settings& settings);

}  // namespace sextant::emit
