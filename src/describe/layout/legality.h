// Is a job legal? One answer for every command: the core's rules and its framework's together.
//
// What needs settings that a Layout does not hold is asked beside it by emit/setting_rules.h, where
// there are such settings.
#pragma once

#include <vector>

#include "describe/layout/rules.h"

namespace sextant::describe {

// Every rule the job breaks, in rule order; risks and notes among them. REQUIRES: sizes of the
// layout ≥ 1.
std::vector<Violation> broken_rules(const Job& job);

// No rule whose breaking is illegal is broken: of the core alone, and of its framework too.
bool core_allows(const Job& job);
bool is_legal(const Job& job);
// The rules that stop it. Empty: legal.
std::vector<Violation> refusals(const Job& job);
std::vector<Violation> refusals(std::vector<Violation> broken);

}  // namespace sextant::describe
