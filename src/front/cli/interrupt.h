// Ctrl-C and progress of an answer that takes long: the first Ctrl-C asks it to end with what is
// found, the second ends the program.
#pragma once

#include <functional>

#include "app/use_case.h"

namespace sextant::front {

// From now on Ctrl-C sets the control's flag; progress is shown where a person looks.
app::Control watched_control();
// Wipes the line of progress.
void end_progress();

}  // namespace sextant::front
