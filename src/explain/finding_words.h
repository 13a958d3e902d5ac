// Words about findings that text, JSON and report have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/rule_book.h"
#include "explain/diagnose_view.h"

namespace sextant::explain {

// "12.3 %", "more than the rest of the step" where nothing of it would be left.
std::string gain_text(Seconds lost, Seconds step);
// Nothing where nothing of the step would be left.
std::optional<double> gain_share(Seconds lost, Seconds step);

// "rank 2", "ranks 0,6", "all ranks".
std::string finding_ranks_text(const diagnose::Finding& finding);

// With a capital and a full stop.
std::string as_sentence(std::string_view text);

// The rule's title, or its id where the book has none of it.
std::string rule_title(const FindingsAnswer& findings, std::string_view rule);

// What of the rule's advice holds, in order of gain.
std::vector<const diagnose::Advice*> advice_of(const FindingsAnswer& findings,
                                               const diagnose::Finding& finding);

// The setting to be shown first: the framework's own, else that of what it runs on; null: no
// setting is known.
const diagnose::Setting* nearest_setting(const FindingsAnswer& findings,
                                         const diagnose::Advice& advice);

// Rules that could be asked, by id.
std::vector<std::string> asked_rules(const FindingsAnswer& findings);

// Of abstentions, by what the profile does not hold: the rules, and how to record it.
struct Unasked {
  std::string missing;
  std::vector<std::string> rules;
  std::string record;  // of the first rule
};
std::vector<Unasked> unasked_rules(const FindingsAnswer& findings);

// Microseconds of the profile's own clock: what its file says less what it adds to all times.
double profile_us(const DiagnoseAnswer& answer, RankId rank, std::int64_t time_ns);

}  // namespace sextant::explain
