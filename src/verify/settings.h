// A change that no layout key says, judged by the diagnosis of the run it is to mend.
//
// The finding it mends must be one of this run's, and not explained by another. What mending it can
// gain is a ceiling (diagnose/finding.h): the step takes at least (step − per_step) / step of what
// it took, so a claim of a smaller step is a wrong size, one of a longer step is refuted, and a
// claim about anything but the step cannot be told. Where it is known which settings mend what
// (diagnose::RuleBook), the setting must be among them, or a citation that stands must name it.
// A finding that is unverified decides nothing: what would show it is missing.
#pragma once

#include <string>

#include "verify/judge.h"

namespace sextant::verify {

Verdict judge_setting(const Proposal& proposal, const Bench& bench);

// What is wrong with the finding a setting is to mend: a ruling, its reason, what is missing.
// Accepted: nothing is.
struct FindingRuling {
  Ruling ruling = Ruling::kAccepted;
  std::string why = {};      // accepted: what the finding says, and how sure it is
  std::string missing = {};  // undecidable: what would decide it
  const diagnose::Finding* finding = nullptr;
};
FindingRuling finding_ruling(const Change& change, const Bench& bench);

}  // namespace sextant::verify
