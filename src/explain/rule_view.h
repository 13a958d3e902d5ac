// What `sextant explain RULE-ID` says.
#pragma once

#include <span>
#include <string>

#include "describe/layout/rules.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

std::string to_text(const describe::Rule& rule, const Provenance& provenance, const Style& style);
// All rules, a line each.
std::string to_text(std::span<const describe::Rule> rules, const Provenance& provenance,
                    const Style& style);

}  // namespace sextant::explain
