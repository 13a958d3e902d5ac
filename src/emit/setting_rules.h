// What a framework demands of settings that a Layout does not hold: switches that need or exclude
// each other, files, the environment. Their words stand in the rule book (describe/layout/rules.h).
#pragma once

#include <vector>

#include "describe/layout/job.h"
#include "describe/layout/rules.h"
#include "emit/settings.h"

namespace sextant::emit {

// Every rule of the settings' dialect that they break, in rule order; risks among them. `job` is
// what the settings were read into: it answers for what they leave silent. Megatron-Bridge shares
// Megatron's rules; what its recipe may have set is not held against silent settings.
std::vector<describe::Violation> check_settings(const Settings& settings, const describe::Job& job);

// The rules about the layout, the core's and the framework's, but for those that a setting lifts
// (--microbatch-group-size-per-virtual-pipeline-stage, --decrease-batch-size-if-needed).
std::vector<describe::Violation> check_layout(const Settings& settings, const describe::Job& job);

// All rules together: the core's, the framework's and the settings', in rule order.
std::vector<describe::Violation> check_all(const Settings& settings, const describe::Job& job);

}  // namespace sextant::emit
