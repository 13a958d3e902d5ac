// The machine-readable form of a diagnosis, sextant.diagnose/2.
#pragma once

#include <string>

#include "explain/diagnose_view.h"

namespace sextant::explain {

std::string diagnose_json(const DiagnoseAnswer& answer);

}  // namespace sextant::explain
