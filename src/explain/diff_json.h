// The machine-readable forms of a comparison of runs: sextant.diff/1, and CSV of what makes up the
// change.
#pragma once

#include <string>

#include "explain/diff_view.h"

namespace sextant::explain {

std::string diff_json(const DiffAnswer& answer);
std::string diff_csv(const DiffAnswer& answer);

}  // namespace sextant::explain
