// config show and doctor: the program about itself.
#pragma once

#include "app/context.h"
#include "base/result.h"

namespace sextant::app {

// Every setting with its value; with_origin adds where it came from.
Result<Output> show_config(const Context& context, bool with_origin);

// Is everything in order: data files, settings, terminal. Exit code 1 if something is not.
Result<Output> doctor(const Context& context, const Surroundings& surroundings);

}  // namespace sextant::app
