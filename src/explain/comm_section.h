// Scores of collectives and expert all-to-alls as sections of the ledger and as tables.
#pragma once

#include <span>
#include <string>

#include "calibrate/systems_left_out.h"
#include "explain/style.h"
#include "measured/comm_scores.h"

namespace sextant::explain {

// Markdown: "Collectives" and "Expert all-to-all", each where there are such rows; "" of none.
// Macro-averages stand beside what must hold of them, and leave-one-out scores in a table of their
// own where there are any.
std::string comm_section(const measured::CommScores& scores,
                         std::span<const calibrate::LeaveOneOut> left_out = {});

// The main tables alone (sizes, classes, experts), for a terminal; "" where nothing is scored.
std::string comm_tables(const measured::CommScores& scores, const Style& style);

}  // namespace sextant::explain
