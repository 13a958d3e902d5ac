// What `sextant validate` says, and the accuracy ledger docs/validation.md.
#pragma once

#include <string>

#include "explain/provenance.h"
#include "explain/style.h"
#include "measured/change_scores.h"
#include "measured/comm_scores.h"
#include "measured/validate.h"

namespace sextant::explain {

struct ValidationAnswer {
  measured::ValidationReport report;
  Provenance provenance;
  measured::CommScores comm = {};  // of the same rows
  measured::ChangeScores changes = {};
};

// JSON has rows, summary and, where there are such rows, scores of communication; the other formats
// the summary, the reasons for refusal, the main scores of communication and those of single
// changes with every one of them (CSV: the summary).
std::string to_text(const ValidationAnswer& answer, const Style& style);

// Every row as CSV, assumptions joined by "; ".
std::string rows_csv(const measured::ValidationReport& report);

// The ledger: Markdown that depends on nothing but the report and the sections that stand after its
// summary: plots_section's, comm_section's, halves_section's ("" = none).
std::string ledger(const measured::ValidationReport& report, const std::string& sections = {});

}  // namespace sextant::explain
