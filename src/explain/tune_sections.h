// Parts of a tuning session as text: what was found, and each proposal with its verdict.
#pragma once

#include <string>
#include <string_view>

#include "agents/report.h"
#include "explain/style.h"

namespace sextant::explain {

// Experiment, key figures, hypotheses, operators, cause. `verbose`: every fact with its source,
// correlation and notes too.
std::string tune_analysis_text(const agents::Analysis& analysis, bool verbose, const Style& style);

// Under a head such as "1." or "not".
std::string tune_proposal_text(std::string_view head, const agents::Judged& judged, bool verbose,
                               const Style& style);
// The same in a line or two: mesh, ruling, why.
std::string tune_brief_text(const agents::Judged& judged, const Style& style);

// "label      text, wrapped, with the label's width before every further line\n"; a list item of
// Markdown. "" of an empty text.
std::string labelled_text(std::string_view label, std::string_view text, const Style& style);

}  // namespace sextant::explain
