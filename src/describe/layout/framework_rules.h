// What the job's own framework demands beyond the core rules, as far as a Job says it.
//
// Differences between frameworks matter here: a layout that is legal in Megatron may be refused by
// torchtitan. What needs switches or environment that a Layout does not hold is asked by
// emit/setting_rules.h.
#pragma once

#include <cstdint>
#include <vector>

#include "describe/layout/rules.h"

namespace sextant::describe {

// Every rule of job.framework that the job breaks, in rule order; risks and notes among them (see
// Violation::severity). Allocates nothing where nothing is broken. REQUIRES: sizes of the layout
// (tp, cp, pp, vpp, ep, etp, mbs) ≥ 1, as parse_layout and the dialects' readers give them.
std::vector<Violation> check_framework_rules(const Job& job);

// No rule whose breaking is illegal is broken. Allocates nothing at all.
bool framework_allows(const Job& job);

// Has a group of `tp` ranks members outside its scale-up domain? Rules about overlap ask that
// (TP-OVERLAP-DOMAIN), so the search, which goes by what rules about switches ask, does too.
bool leaves_domain(const Cluster& cluster, std::int64_t tp);

}  // namespace sextant::describe
