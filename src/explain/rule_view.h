// What `sextant explain RULE-ID` says.
#pragma once

#include <string>
#include <vector>

#include "describe/layout/rules.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

struct RuleAnswer {
  describe::Rule rule;
  Provenance provenance;
};
std::string to_text(const RuleAnswer& answer, const Style& style);

// All rules, a line each.
struct RuleBookAnswer {
  std::vector<describe::Rule> rules;
  Provenance provenance;
};
std::string to_text(const RuleBookAnswer& answer, const Style& style);

}  // namespace sextant::explain
