// A predicted step beside the measured one, as a table and in JSON.
#pragma once

#include "diagnose/laid_over.h"
#include "explain/json.h"
#include "explain/text_table.h"

namespace sextant::explain {

Table laid_table(const diagnose::LaidOver& laid);
Json laid_json(const diagnose::LaidOver& laid);

}  // namespace sextant::explain
