// The built-in reasoner's report as text for a language model, and verdicts as what it is told of
// its proposals.
#pragma once

#include <string>

#include "agents/report.h"

namespace sextant::agents {

std::string report_for_model(const Report& report);
// One proposal with its verdict: what decided, each claim and each citation.
std::string verdict_for_model(const verify::Proposal& proposal, const verify::Verdict& verdict);

}  // namespace sextant::agents
