// Parameters of every use case that reads profiles.
#pragma once

#include <vector>

#include "app/trace_reading.h"
#include "app/use_case.h"

namespace sextant::app {

std::vector<Parameter> trace_parameters();
// The same where profiles are not what is asked about, but stand beside it: by name.
std::vector<Parameter> trace_parameters_of_others();
// Of those that judge what they read.
Parameter judged_device_parameter();
Parameter advised_framework_parameter();
TraceRequest trace_request(const Values& values);

}  // namespace sextant::app
