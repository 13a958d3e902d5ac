// When a branch of a bash script is taken, worked out from what is known of its variables: tests,
// ((…)) and the patterns of case. Nothing is run: a file's existence or a command's success is not
// known.
//
// A variable that nothing sets counts as empty where a test asks just that (-z, -n, = ""), as a
// default in ${X:-8} does; what it is compared with otherwise is not known.
#pragma once

#include "base/result.h"
#include "emit/shell_commands.h"
#include "emit/shell_state.h"

namespace sextant::emit {

enum class Truth { kNo, kYes, kUnknown };

// Its own condition alone; `else` and what was taken before it are the caller's.
Result<Truth> branch_is_taken(const ShellBranch& branch, const ShellSpot& spot, ShellState& state);

}  // namespace sextant::emit
