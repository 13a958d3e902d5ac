// ‹fail-on› as a person says it: "input-bound,gain>5%".
#pragma once

#include <string>

#include "base/result.h"
#include "diagnose/gate.h"
#include "diagnose/rule_book.h"

namespace sextant::app {

// Conditions, joined by commas: a rule of the book, gain>SHARE, and where `takes_slower`
// slower>SHARE. An Error names what is allowed.
Result<diagnose::Gate> gate_of(const std::string& word, const diagnose::RuleBook& book,
                               bool takes_slower = false);

}  // namespace sextant::app
