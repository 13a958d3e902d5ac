// The file system as a captured script sees it: everything can be read, what is written goes to a
// layer in memory, and neither devices nor sockets are there.
#pragma once

#include <optional>
#include <string>

#include "capture/sandbox.h"

namespace sextant::capture {

// REQUIRES: a mount namespace of one's own, and a user namespace with all rights in it.
// Nothing, or why it cannot be done.
std::optional<std::string> mount_sandbox(const SandboxRequest& request);

}  // namespace sextant::capture
