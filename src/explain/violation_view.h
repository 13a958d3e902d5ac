// A job that is not legal: which rules it breaks, with the numbers seen and the nearest legal
// values.
#pragma once

#include <string>
#include <vector>

#include "describe/layout/rules.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

// "tp=6 does not divide 64 heads; nearest: tp=4, tp=8", and the same after "HEADS-TP: ".
std::string message_text(const describe::Violation& violation);
std::string violation_text(const describe::Violation& violation);

// What a use case answers to a job that is not legal.
struct NotLegal {
  Provenance provenance;
  std::string use_case;  // "memory"
  std::vector<describe::Violation> violations;
};
// JSON: {"schema": "sextant.<use case>/…", …, "legal": false, "violations": [{rule, message,
// nearest}]}.
std::string to_text(const NotLegal& answer, const Style& style);

}  // namespace sextant::explain
