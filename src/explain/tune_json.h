// Tuning sessions as documents: sextant.tune/1 and sextant.tune-log/1 (docs/interface.md).
#pragma once

#include <string>

#include "explain/tune_view.h"

namespace sextant::explain {

std::string tune_json(const TuneAnswer& answer);
std::string tune_log_json(const TuneLogAnswer& answer);

}  // namespace sextant::explain
