// Parameters of use cases that write a framework's files.
#pragma once

#include <string_view>

#include "app/use_case.h"

namespace sextant::app {

Parameter dialect_parameter(std::string_view name, std::string_view help,
                            std::string_view otherwise);
Parameter launcher_parameter();
Parameter emit_folder_parameter();

}  // namespace sextant::app
