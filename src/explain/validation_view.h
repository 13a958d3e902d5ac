// What `sextant validate` says, and the accuracy ledger docs/validation.md.
#pragma once

#include <string>

#include "explain/provenance.h"
#include "explain/style.h"
#include "measured/validate.h"

namespace sextant::explain {

struct ValidationAnswer {
  measured::ValidationReport report;
  Provenance provenance;
};

// JSON has rows and summary; the other formats the summary and the reasons for refusal.
std::string to_text(const ValidationAnswer& answer, const Style& style);

// Every row as CSV, assumptions joined by "; ".
std::string rows_csv(const measured::ValidationReport& report);

// The ledger: Markdown that depends on nothing but the report and its plots, which are a section as
// plots_section writes it ("" = none).
std::string ledger(const measured::ValidationReport& report, const std::string& plots = {});

}  // namespace sextant::explain
