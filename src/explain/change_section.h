// Published single changes, foretold: tables for a terminal, and the page docs/single_changes.md.
#pragma once

#include <string>

#include "explain/json.h"
#include "explain/style.h"
#include "measured/change_scores.h"
#include "measured/validate.h"

namespace sextant::explain {

// What must hold, sums by kind and source, and every row; "" where there are no changes.
std::string change_tables(const measured::ChangeScores& scores, const Style& style);

// The page: Markdown that depends on nothing but its arguments.
std::string changes_page(const measured::ChangeScores& scores,
                         const measured::ValidationReport& report);

Json change_scores_json(const measured::ChangeScores& scores);

}  // namespace sextant::explain
