// Findings as JSON: part of sextant.diagnose and sextant.diff.
#pragma once

#include "explain/diagnose_view.h"
#include "explain/json.h"

namespace sextant::explain {

// Times of evidence are microseconds as its profile has them.
Json finding_json(const DiagnoseAnswer& answer, const FindingsAnswer& findings,
                  const diagnose::Finding& finding);
// findings, abstained, asked, notes, gain_ceiling_total, fail_on_met; findings is null where no
// step is whole.
void add_findings(Json& json, const DiagnoseAnswer& answer);

}  // namespace sextant::explain
