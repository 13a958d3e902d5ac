// config show and doctor: the program about itself.
#pragma once

#include "app/answered.h"
#include "app/context.h"
#include "explain/self_view.h"

namespace sextant::app {

// Every setting with its value; with_origin adds where it came from.
explain::ConfigAnswer show_config(const Context& context, bool with_origin);

// Is everything in order: data files, settings, terminal. The outcome is no if something is not.
Answered<explain::DoctorAnswer> doctor(const Context& context, const Surroundings& surroundings);

}  // namespace sextant::app
