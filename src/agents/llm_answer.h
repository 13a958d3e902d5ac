// What a language model answers → proposals. The text is foreign: bounded, and strict about types
// and words; every text in it is made fit to be shown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "verify/proposal.h"

namespace sextant::agents {

inline constexpr std::size_t kMostAnswered = 8;        // proposals of one answer
inline constexpr std::size_t kMostInProposal = 32;     // claims, citations, trade-offs
inline constexpr std::size_t kLongestWords = 2000;     // characters of one text
inline constexpr std::size_t kLongestAnswer = 262144;  // bytes

struct LlmAnswer {
  std::string summary;
  std::vector<verify::Proposal> proposals;
};
// One JSON object, which may stand in a fence of Markdown or among other words. Proposals have that
// author.
Result<LlmAnswer> parse_llm_answer(std::string_view text, const std::string& author);

// The arguments of the tool `judge`: one proposal.
Result<verify::Proposal> parse_llm_proposal(std::string_view text, const std::string& author);

}  // namespace sextant::agents
