// The part of the ledger that says whether odds that a job fits are right.
#pragma once

#include <string>

#include "measured/fit_scores.h"

namespace sextant::explain {

// Markdown: "Will it fit"; "" where no such job was measured.
std::string fit_section(const measured::FitScores& scores);

}  // namespace sextant::explain
