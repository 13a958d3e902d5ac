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

// JSON: {"schema": "sextant.<command>/1", …, "legal": false, "violations": [{rule, message,
// nearest}]}.
std::string to_text(std::span<const describe::Violation> violations, std::string_view command,
                    const Provenance& provenance, const Style& style);

}  // namespace sextant::explain
