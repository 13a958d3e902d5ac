// What the judge says of one proposal.
#pragma once

#include <string>

#include "agents/report.h"
#include "describe/assumption.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

struct VerifyAnswer {
  Provenance provenance;
  agents::Judged judged;
  describe::Assumptions assumed = {};
};
// JSON: schema sextant.verify/1.
std::string to_text(const VerifyAnswer& answer, const Style& style);

}  // namespace sextant::explain
