// A configuration call as settings with dotted keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emit/python_recipe_values.h"

namespace sextant::emit::python {

// Does the call make a whole configuration, "Trainer.Config(…)"?
bool is_whole_config(const Value& value);

// The settings of a member of the configuration, put over those it had: "training" and
// TrainingConfig(steps=1) replace every "training.…". `file` names the file in places.
void set_member(Value& config, std::string_view member, const Value& value, std::string_view file);

}  // namespace sextant::emit::python
