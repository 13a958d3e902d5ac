// A proposal as text, as the Sharding Memory keeps it, and back: TOML, so that people read it too.
//
// What is read is a foreign text: bounded, and strict. A key that is not known, a word outside its
// set, a number that is none and a list that is too long are Errors with their place.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "verify/proposal.h"
#include "verify/verdict.h"

namespace sextant::agents {

inline constexpr std::size_t kLongestProposal = 1 << 18;  // bytes
inline constexpr std::size_t kMostListed = 64;            // claims, citations, trade-offs

// parse_proposal reads it back to the same value. Bytes that are no UTF-8 are written as \xnn.
// REQUIRES: ends of ratios are finite, in order.
std::string proposal_text(const verify::Proposal& proposal);
Result<verify::Proposal> parse_proposal(std::string_view text, std::string_view where);

// The ruling, what it rests on and why, and each claim and citation with its own.
std::string verdict_text(const verify::Verdict& verdict);
// Of such a text.
Result<verify::Ruling> parse_ruling(std::string_view text, std::string_view where);

}  // namespace sextant::agents
