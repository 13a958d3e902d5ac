// The rule book as a page.
#pragma once

#include <string>

#include "diagnose/rule_book.h"

namespace sextant::diagnose {

// Markdown: every rule with what it means, what it asks a profile for, and its advice.
std::string findings_page(const RuleBook& book);

}  // namespace sextant::diagnose
