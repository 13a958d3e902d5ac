// What `sextant explain RULE-ID` says.
#pragma once

#include <string>
#include <vector>

#include "describe/layout/rules.h"
#include "diagnose/rule_book.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

struct RuleAnswer {
  describe::Rule rule;
  Provenance provenance;
};
std::string to_text(const RuleAnswer& answer, const Style& style);

// One that a diagnosis may find.
struct DiagnosisRuleAnswer {
  diagnose::Rule rule;
  Provenance provenance;
};
std::string to_text(const DiagnosisRuleAnswer& answer, const Style& style);

// All rules, a line each.
struct RuleBookAnswer {
  std::vector<describe::Rule> rules;
  std::vector<diagnose::Rule> of_diagnosis;
  Provenance provenance;
};
std::string to_text(const RuleBookAnswer& answer, const Style& style);

}  // namespace sextant::explain
