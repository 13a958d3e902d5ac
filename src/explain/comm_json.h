// Scores of collectives and expert all-to-alls as JSON: included by explain's .cc files only.
#pragma once

#include "explain/json.h"
#include "measured/comm_scores.h"

namespace sextant::explain {

// {"collectives": {…}, "expert_all_to_all": {…}}, null where there are no such rows. The shapes are
// in docs/interface.md. REQUIRES: !scores.empty().
Json comm_json(const measured::CommScores& scores);

}  // namespace sextant::explain
