// Which plot of the ledger a row belongs to, and under which name.
//
// The rule: a plot a kind of table and quantity, a series a kind of thing measured (of collectives
// a class of system, and one of all systems that are not healthy). What no rule names (a new
// quantity) gets a plot of its own, by the table's kind and the quantity's name, with a series a
// table.
#pragma once

#include <vector>

#include "explain/validation_plot.h"
#include "measured/row.h"
#include "measured/validate.h"

namespace sextant::explain {

// Plots of the scored rows (predicted, of trust A or B), sorted by name; none where no row is.
// Yes-or-no quantities (fits) have none. Series stand in the rule's order, then by name.
// REQUIRES: `report` is validate's of `rows`.
std::vector<ValidationPlot> validation_plots(const std::vector<measured::Row>& rows,
                                             const measured::ValidationReport& report);

}  // namespace sextant::explain
