#include "app/verify_command.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "app/tune_parts.h"
#include "base/text.h"

namespace sextant::app {
namespace {

constexpr std::string_view kClaimForm =
    "QUANTITY lower, same or higher, and the ratio after over before where it is claimed: step "
    "lower x0.7..0.85";

std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) {
      words.push_back(word);
    }
  }
  return words;
}

// "x0.7..0.85".
Result<step::RatioRange> ratio_of(std::string_view word) {
  const std::size_t dots = word.find("..");
  const auto low = word.starts_with('x') && dots != std::string_view::npos
                       ? to_double(word.substr(1, dots - 1))
                       : std::nullopt;
  const auto high = low ? to_double(word.substr(dots + 2)) : std::nullopt;
  if (!high || *low <= 0.0 || *high < *low) {
    return invalid(fmt::format("'{}' is no range of ratios", printable(word)), "‹claim›",
                   "xLOW..HIGH, both above 0: x0.7..0.85");
  }
  return step::RatioRange{*low, *high};
}

Result<verify::Claim> claim_of_words(std::span<const std::string_view> words,
                                     std::string_view whole) {
  if (words.size() < 2 || words.size() > 3) {
    return invalid(fmt::format("'{}' is no claim", printable(whole)), "‹claim›",
                   std::string(kClaimForm));
  }
  verify::Claim claim;
  SEXTANT_TRY(claim.quantity, describe::parse_word<step::Quantity>(step::kQuantityWords, words[0],
                                                                   "quantity", "‹claim›"));
  SEXTANT_TRY(claim.direction, describe::parse_word<step::Direction>(
                                   step::kDirectionWords, words[1], "direction", "‹claim›"));
  if (words.size() == 3) {
    SEXTANT_TRY(claim.ratio, ratio_of(words[2]));
  }
  return claim;
}

Result<verify::Proposal> proposal_of(const VerifyRequest& request) {
  verify::Proposal proposal{
      .title = request.title,
      .change = {.layout = request.change, .setting = request.setting, .mends = request.mends},
      .author = request.author.empty() ? "user" : request.author};
  if (request.change.empty() && request.setting.empty()) {
    return invalid("nothing is proposed", "«verify»", "‹change tp=4›, or ‹setting› with ‹mends›");
  }
  if (proposal.title.empty()) {
    proposal.title = request.change.empty() ? request.setting : request.change;
  }
  if (!request.devices.empty()) {
    proposal.devices = to_integer(request.devices);
    if (!proposal.devices || *proposal.devices < 1) {
      return invalid(fmt::format("'{}' is no number of devices", printable(request.devices)),
                     "‹devices›", "a whole number from 1");
    }
  }
  for (const std::string& word : request.claims) {
    SEXTANT_TRY(const verify::Claim claim, claim_of(word));
    proposal.claims.push_back(claim);
  }
  if (request.claims.empty()) {
    proposal.claims.push_back({});  // what a change is for: a shorter step
  }
  for (const std::string& word : request.citations) {
    SEXTANT_TRY(const verify::Citation citation, citation_of(word));
    proposal.citations.push_back(citation);
  }
  return proposal;
}

}  // namespace

Result<verify::Claim> claim_of(std::string_view word) {
  return claim_of_words(words_in(word), word);
}

Result<verify::Citation> citation_of(std::string_view word) {
  const std::vector<std::string_view> words = words_in(word);
  const std::string_view named = words.empty() ? std::string_view() : words.front();
  const std::size_t colon = named.find(':');
  verify::Citation citation;
  SEXTANT_TRY(citation.kind, describe::parse_word<verify::Cited>(
                                 verify::kCitedWords, named.substr(0, colon), "source", "‹cite›"));
  citation.id = colon == std::string_view::npos ? std::string() : named.substr(colon + 1);
  if (citation.id.empty() != (citation.kind == verify::Cited::kModel)) {
    return invalid(fmt::format("'{}' names nothing", printable(word)), "‹cite›",
                   "kb:ID, rule:ID, finding:RULE, or model");
  }
  if (words.size() > 1) {
    SEXTANT_TRY(citation.supports, claim_of_words(std::span(words).subspan(1), word));
  }
  return citation;
}

Result<Answered<explain::VerifyAnswer>> verify_proposal(const VerifyRequest& request,
                                                        const Context& context,
                                                        const Control& control) {
  SEXTANT_TRY(verify::Proposal proposal, proposal_of(request));
  TuneRequest job = request.job;
  job.without_planner = true;  // it is held to the job as it stands
  SEXTANT_TRY(const Knowledge knowledge, knowledge_of(job.kb_file, /*without=*/false, context));
  SEXTANT_TRY(const PreparedTune prepared, prepared_tune(job, knowledge, context, control));
  SEXTANT_TRY(verify::Verdict verdict, prepared.judge(proposal));
  const bool stands = verdict.stands();
  Answered<explain::VerifyAnswer> answered{
      .answer = {.provenance = prepared.provenance,
                 .judged = {.proposal = std::move(proposal), .verdict = std::move(verdict)},
                 .assumed = prepared.assumed},
      .outcome = stands ? Outcome::kFine : Outcome::kNo,
      .notes = prepared.notes};
  return answered;
}

}  // namespace sextant::app
