// The one place that writes files on the user's disk: what an answer asks for.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/answered.h"
#include "base/result.h"

namespace sextant::front {

// Each whole or not at all, in their order; a file that is there is replaced. Their notes, or the
// first Error.
Result<std::vector<std::string>> write_artifacts(std::span<const app::Artifact> artifacts);

}  // namespace sextant::front
