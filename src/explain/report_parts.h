// Sections of a report, HTML each; "" where there is nothing to show.
#pragma once

#include <string>
#include <string_view>

#include "explain/diagnose_view.h"

namespace sextant::explain {

// Headline, the figures that say most, the step as a bar of its parts.
std::string report_head(const DiagnoseAnswer& answer);
std::string report_breakdown(const DiagnoseAnswer& answer);
// A step as a bar with its parts named, as long as it is of `widest`.
std::string step_bar(const metrics::RankTotals& totals, Seconds widest, std::string_view label);
std::string report_findings(const DiagnoseAnswer& answer);
// Where in time the evidence lies: a row for each rank that has any.
std::string report_evidence(const DiagnoseAnswer& answer);
// A link that hands over `trace` (Chrome JSON), and how to open it. "" without a trace.
std::string report_timeline_link(std::string_view trace);
// Ranks by parts of their step, the darker the more.
std::string report_ranks(const DiagnoseAnswer& answer);
std::string report_tables(const DiagnoseAnswer& answer);
// What was not read, not asked, and assumed.
std::string report_limits(const DiagnoseAnswer& answer);
std::string report_footer(const Provenance& provenance);

}  // namespace sextant::explain
