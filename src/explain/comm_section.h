// Scores of collectives and expert all-to-alls as sections of the ledger and as tables.
#pragma once

#include <span>
#include <string>

#include "explain/style.h"
#include "measured/comm_scores.h"

namespace sextant::explain {

// What one kind of rows scores when their systems were fitted, and when each system was predicted
// from a fit on all others.
struct LeaveOneOut {
  std::string name;   // a size bucket's words, "all sizes", "expert all-to-all"
  double seen = 0.0;  // macro-averages: 0.1 is 10 %
  double unseen = 0.0;
};

// Markdown: "Collectives" and "Expert all-to-all", each where there are such rows; "" of none.
// Macro-averages stand beside what must hold of them, and leave-one-out scores in a table of their
// own where there are any.
std::string comm_section(const measured::CommScores& scores,
                         std::span<const LeaveOneOut> left_out = {});

// The main tables alone (sizes, classes, experts), for a terminal; "" where nothing is scored.
std::string comm_tables(const measured::CommScores& scores, const Style& style);

}  // namespace sextant::explain
