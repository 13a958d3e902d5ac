// What a captured script may not ask of the kernel.
#pragma once

#include <optional>
#include <string>

#include "capture/sandbox.h"

namespace sextant::capture {

// For the process and all it starts: limits of resources, no rights, no sockets, no further
// namespaces. Nothing, or why it cannot be done.
std::optional<std::string> give_up_rights(const SandboxLimits& limits);

}  // namespace sextant::capture
