// A use case as a subcommand: its table as options and positionals, its answer printed, the files
// it asks for written, its outcome as an exit code.
#pragma once

#include "app/use_case.h"
#include "front/cli/command.h"

namespace sextant::front {

Command command_of(const app::UseCase& use_case);

}  // namespace sextant::front
