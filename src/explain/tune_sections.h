// Parts of a tuning session as text: what was found, and each proposal with its verdict.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "agents/report.h"
#include "explain/style.h"
#include "explain/tune_view.h"

namespace sextant::explain {

// Experiment, key figures, hypotheses, operators, cause. Verbose, every fact with its source,
// correlation and notes too.
std::string tune_analysis_text(const TuneAnswer& answer, const Style& style);
// As many rows of a table as were asked for.
std::size_t tune_rows(const TuneAnswer& answer, std::size_t all);

// Under a head such as "1." or "not".
std::string tune_proposal_text(std::string_view head, const agents::Judged& judged, bool verbose,
                               const Style& style);
// The same in a line or two: mesh, ruling, why.
std::string tune_brief_text(const agents::Judged& judged, const Style& style);

// "label      text, wrapped, with the label's width before every further line\n"; a list item of
// Markdown. "" of an empty text.
std::string labelled_text(std::string_view label, std::string_view text, const Style& style);

}  // namespace sextant::explain
