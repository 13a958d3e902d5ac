// A user's own job: what its files say and where, which rules it breaks, what they leave open, and
// how its measured step compares with the predicted one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "describe/assumption.h"
#include "describe/layout/job.h"
#include "describe/layout/rules.h"
#include "emit/dialects.h"
#include "emit/log_measured.h"
#include "explain/provenance.h"
#include "explain/step_result.h"
#include "explain/style.h"

namespace sextant::explain {

struct CheckAnswer {
  Provenance provenance;
  std::vector<std::string> files;
  emit::Reading reading;
  std::optional<describe::Job> job;  // nothing where the model is not known
  std::vector<std::string> open;     // what must be given to say more
  std::vector<describe::Violation> violations;
  std::optional<emit::MeasuredRun> measured;
  std::optional<step::Estimate> predicted;  // where everything was stated and the job is legal
  describe::Assumptions assumed;
};

// Something the framework refuses.
bool is_illegal(const CheckAnswer& answer);

// JSON: schema sextant.check/3. GitHub: workflow commands, one a finding. SARIF: 2.1.0.
std::string to_text(const CheckAnswer& answer, const Style& style);

// A log's job and its measured step, as a row of a table of runs.
struct MeasuredRowAnswer {
  describe::Job job;
  emit::MeasuredRun measured;
  std::string id;
};
// CSV with the table's header, whatever the style: what validate reads.
std::string to_text(const MeasuredRowAnswer& answer, const Style& style);

// "'x' is no setting of this framework; did you mean y?"
std::string unknown_text(const emit::UnknownSetting& setting);

// One thing to tell, with its place in the user's files.
struct Finding {
  describe::Severity severity = describe::Severity::kNote;
  std::string rule;  // a rule's id, or "UNRESOLVED", "UNKNOWN-SETTING", "NOT-STATED"
  std::string message;
  emit::Place place;
};
// Broken rules first, then what is unknown, unresolved and not stated.
std::vector<Finding> findings(const CheckAnswer& answer);

// For CI: annotations of GitHub Actions, and a SARIF 2.1.0 log (check_findings.cc).
std::string github_text(const std::vector<Finding>& list);
std::string sarif_text(const std::vector<Finding>& list);

}  // namespace sextant::explain
