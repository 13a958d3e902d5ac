#include "agents/llm_answer.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/json_value.h"
#include "describe/words.h"
#include "kb/entry_says.h"

namespace sextant::agents {
namespace {

using describe::JsonValue;

constexpr const char* kAnswerPlace = "the model's answer";

Result<void> check_keys(const JsonValue& object, std::span<const std::string_view> known) {
  if (object.kind() != JsonValue::Kind::kObject) {
    return invalid("this is no object", object.where(), "{…}");
  }
  for (const std::string& key : object.keys()) {
    if (std::ranges::find(known, key) == known.end()) {
      return invalid(fmt::format("'{}' is no key here", printable(key)), object.where(),
                     fmt::format("{}", fmt::join(known, ", ")));
    }
  }
  return {};
}

// "" where the key is absent.
Result<std::string> shown_text(const JsonValue& object, std::string_view key) {
  const auto member = object.member(key);
  if (!member) {
    return std::string();
  }
  SEXTANT_TRY(const std::string text, member->text());
  return printable(text, kLongestWords);
}

Result<std::vector<JsonValue>> bounded_elements(const JsonValue& object, std::string_view key,
                                                std::size_t most) {
  const auto member = object.member(key);
  if (!member) {
    return std::vector<JsonValue>();
  }
  if (member->kind() != JsonValue::Kind::kArray || member->size() > most) {
    return invalid("this is no list, or too long a one", member->where(),
                   fmt::format("[…] of at most {}", most));
  }
  return member->elements();
}

Result<void> read_claims(const JsonValue& object, verify::Proposal& proposal) {
  SEXTANT_TRY(const auto claims, bounded_elements(object, "claims", kMostInProposal));
  for (const JsonValue& one : claims) {
    SEXTANT_TRY(const std::string text, one.text());
    const auto claim = kb::parse_expectation(text);
    if (!claim) {
      return invalid(claim.error().what, one.where(), claim.error().allowed);
    }
    proposal.claims.push_back(
        {.quantity = claim->quantity, .direction = claim->direction, .ratio = claim->ratio});
  }
  return {};
}

Result<void> read_llm_citations(const JsonValue& object, verify::Proposal& proposal) {
  SEXTANT_TRY(const auto citations, bounded_elements(object, "citations", kMostInProposal));
  static constexpr std::array<std::string_view, 2> kKnown{"kind", "id"};
  for (const JsonValue& one : citations) {
    SEXTANT_CHECK_OK(check_keys(one, kKnown));
    verify::Citation citation;
    SEXTANT_TRY(const std::string kind, shown_text(one, "kind"));
    SEXTANT_TRY(citation.kind, describe::parse_word<verify::Cited>(verify::kCitedWords, kind,
                                                                   "citation", one.where()));
    SEXTANT_TRY(citation.id, shown_text(one, "id"));
    proposal.citations.push_back(std::move(citation));
  }
  return {};
}

Result<verify::Proposal> read_llm_proposal(const JsonValue& object, const std::string& author) {
  static constexpr std::array<std::string_view, 10> kKnown{
      "title",  "layout",     "setting", "mends",     "bottleneck",
      "memory", "comparison", "claims",  "citations", "trade_offs"};
  SEXTANT_CHECK_OK(check_keys(object, kKnown));
  verify::Proposal proposal{.author = author};
  SEXTANT_TRY(proposal.title, shown_text(object, "title"));
  SEXTANT_TRY(proposal.change.layout, shown_text(object, "layout"));
  SEXTANT_TRY(proposal.change.setting, shown_text(object, "setting"));
  SEXTANT_TRY(proposal.change.mends, shown_text(object, "mends"));
  SEXTANT_TRY(proposal.reasoning.bottleneck, shown_text(object, "bottleneck"));
  SEXTANT_TRY(proposal.reasoning.memory, shown_text(object, "memory"));
  SEXTANT_TRY(proposal.reasoning.comparison, shown_text(object, "comparison"));
  SEXTANT_CHECK_OK(read_claims(object, proposal));
  SEXTANT_CHECK_OK(read_llm_citations(object, proposal));
  SEXTANT_TRY(const auto trade_offs, bounded_elements(object, "trade_offs", kMostInProposal));
  for (const JsonValue& one : trade_offs) {
    SEXTANT_TRY(const std::string text, one.text());
    proposal.trade_offs.push_back(printable(text, kLongestWords));
  }
  return proposal;
}

// From its first bracket to its last: models like to put words or a fence around.
std::string_view object_in(std::string_view text) {
  const std::size_t first = text.find('{');
  const std::size_t last = text.rfind('}');
  return first == std::string_view::npos || last == std::string_view::npos || last < first
             ? std::string_view()
             : text.substr(first, last - first + 1);
}

Result<JsonValue> foreign_object(std::string_view text) {
  const std::string_view object = object_in(text);
  if (object.empty()) {
    return invalid("there is no JSON object in it", kAnswerPlace, "{\"summary\": …, …}");
  }
  return JsonValue::parse(object, kAnswerPlace, Bytes(static_cast<double>(kLongestAnswer)));
}

}  // namespace

Result<LlmAnswer> parse_llm_answer(std::string_view text, const std::string& author) {
  static constexpr std::array<std::string_view, 2> kKnown{"summary", "proposals"};
  SEXTANT_TRY(const JsonValue object, foreign_object(text));
  SEXTANT_CHECK_OK(check_keys(object, kKnown));
  LlmAnswer answer;
  SEXTANT_TRY(answer.summary, shown_text(object, "summary"));
  SEXTANT_TRY(const auto proposals, bounded_elements(object, "proposals", kMostAnswered));
  for (const JsonValue& one : proposals) {
    SEXTANT_TRY(verify::Proposal proposal, read_llm_proposal(one, author));
    answer.proposals.push_back(std::move(proposal));
  }
  return answer;
}

Result<verify::Proposal> parse_llm_proposal(std::string_view text, const std::string& author) {
  SEXTANT_TRY(const JsonValue object, foreign_object(text));
  return read_llm_proposal(object, author);
}

}  // namespace sextant::agents
