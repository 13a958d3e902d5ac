// A job that is not legal: which rules it breaks, with the numbers seen and the nearest legal
// values.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "describe/layout/rules.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

// "tp=6 does not divide 64 heads; nearest: tp=4, tp=8", and the same after "HEADS-TP: ".
std::string message_text(const describe::Violation& violation);
std::string violation_text(const describe::Violation& violation);

// JSON: {"schema": "sextant.<command>/1", …, "legal": false, "violations": [{rule, message,
// nearest}]}.
std::string to_text(std::span<const describe::Violation> violations, std::string_view command,
                    const Provenance& provenance, const Style& style);

}  // namespace sextant::explain
