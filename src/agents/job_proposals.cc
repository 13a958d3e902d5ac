#include "agents/job_proposals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "kb/entry_says.h"
#include "verify/citations.h"
#include "verify/claims.h"

namespace sextant::agents {
namespace {

using step::Direction;
using step::Estimate;
using step::Quantity;
using verify::Claim;
using verify::Proposal;
using verify::Verdict;

constexpr double kTermSeen = 0.005;    // of a step: what is worth a word
constexpr double kMemorySeen = 0.05;   // of a device's need
constexpr std::size_t kMostCited = 3;  // of a proposal
constexpr std::size_t kMostTerms = 3;

template <typename T>
std::string change_words(T change) {
  return change < T() ? "−" + to_text(-change) : "+" + to_text(change);
}

struct MovedTerm {
  std::string_view name;
  Seconds change;
};
// The terms that move by more than is worth a word, most first.
std::vector<MovedTerm> moved_terms(const Estimate& before, const Estimate& after) {
  const std::vector<step::StepTerm> old_terms = step::step_terms(before.step);
  const std::vector<step::StepTerm> new_terms = step::step_terms(after.step);
  std::vector<MovedTerm> moved;
  for (std::size_t i = 0; i < old_terms.size(); ++i) {
    const Seconds change = new_terms[i].time - old_terms[i].time;
    if (std::abs(change / before.step.step) >= kTermSeen) {
      moved.push_back({old_terms[i].name, change});
    }
  }
  std::ranges::stable_sort(moved, std::greater<>(),
                           [](const MovedTerm& term) { return std::abs(term.change.base()); });
  return moved;
}

// --- Claims and citations ---------------------------------------------------------------------

// Beside the step, what the model is sure of: claims that it would not let stand are not made.
std::vector<Claim> further_claims(const verify::Sides& sides) {
  constexpr std::array<Quantity, 4> kAsked{Quantity::kMemory, Quantity::kCommunication,
                                           Quantity::kBubble, Quantity::kCompute};
  std::vector<Claim> claims;
  for (const Quantity quantity : kAsked) {
    const double before = step::value_of(quantity, sides.before, true);
    const double after = step::value_of(quantity, sides.after, true);
    const Claim claim{quantity, after < before ? Direction::kLower : Direction::kHigher, {}};
    const bool is_seen = quantity == Quantity::kMemory ||
                         std::abs(after - before) >= kTermSeen * sides.before.step.step.base();
    if (is_seen && verify::judged_claim(claim, sides).ruling == verify::ClaimRuling::kHolds) {
      claims.push_back(claim);
    }
  }
  return claims;
}

std::vector<verify::Citation> standing_citations(const Verdict& verdict) {
  std::vector<verify::Citation> citations;
  for (const verify::JudgedCitation& judged : verdict.citations) {
    if (judged.stands && citations.size() < kMostCited) {
      citations.push_back(judged.citation);
    }
  }
  return citations;
}

// --- Words ------------------------------------------------------------------------------------

std::string bottleneck_sentence(const Proposal& draft, const Verdict& verdict, const Told& told) {
  std::string held =
      fmt::format("held up by {}; {}", word_of(told.analysis.settled), told.analysis.root_cause);
  if (!draft.change.mends.empty()) {
    return fmt::format("it mends '{}'; the run is {}", draft.change.mends, held);
  }
  if (!verdict.before || !verdict.after) {
    return held;
  }
  std::vector<std::string> parts;
  for (const MovedTerm& term : moved_terms(*verdict.before, *verdict.after)) {
    if (parts.size() < kMostTerms) {
      parts.push_back(fmt::format("{} {}", term.name, change_words(term.change)));
    }
  }
  return parts.empty() ? held : fmt::format("{}. It moves {} a step", held, join(parts, ", "));
}

std::string memory_sentence_of(const Proposal& draft, const Verdict& verdict,
                               const Standing& standing) {
  if (!verdict.after) {
    return draft.change.layout.empty() ? "no layout changes: memory stays as it is" : "not known";
  }
  const std::string need =
      fmt::format("needs {} of {} a device", to_text(verdict.after->memory.fullest.device),
                  to_text(standing.task->problem.available()));
  return verdict.before
             ? fmt::format("{}, {} {}", need, to_text(verdict.before->memory.fullest.device),
                           standing.is_users ? "as it stands" : "the planner's first")
             : need;
}

std::string comparison_sentence(const Verdict& verdict) {
  if (!verdict.stands()) {
    return verdict.reason;
  }
  if (!verdict.speed || !verdict.before || !verdict.after) {
    return verdict.after
               ? fmt::format("step {}; no step of the job as it stands to compare it with",
                             to_text(verdict.after->step.step))
               : verdict.reason;
  }
  const step::Difference& speed = *verdict.speed;
  return fmt::format("step {} -> {}: {}", to_text(verdict.before->step.step),
                     to_text(verdict.after->step.step),
                     verify::ratio_words(1.0 / speed.speed, {1.0 / speed.high, 1.0 / speed.low}));
}

bool changes_format(const Proposal& proposal) {
  const std::string words = "," + proposal.change.layout;
  return std::ranges::any_of(
      std::array<std::string_view, 4>{",precision=", ",parameters=", ",gradients=", ";precision="},
      [&words](std::string_view key) { return words.find(key) != std::string::npos; });
}

std::vector<std::string> trade_offs_of_job(const Proposal& draft, const Verdict& verdict) {
  std::vector<std::string> trade_offs = draft.trade_offs;
  if (!verdict.before || !verdict.after) {
    return trade_offs;
  }
  if (changes_format(draft)) {
    trade_offs.emplace_back("numbers are kept in another format: compare the loss of both");
  }
  for (const MovedTerm& term : moved_terms(*verdict.before, *verdict.after)) {
    if (term.change > Seconds()) {
      trade_offs.push_back(fmt::format("{} {} a step", term.name, change_words(term.change)));
    }
  }
  const Bytes had = verdict.before->memory.fullest.device;
  const Bytes needs = verdict.after->memory.fullest.device;
  if (needs > had * (1.0 + kMemorySeen)) {
    trade_offs.push_back(fmt::format("memory {} a device", change_words(needs - had)));
  }
  if (verdict.speed && !verdict.speed->outside.empty()) {
    trade_offs.push_back(
        fmt::format("nothing like it was measured: {}", join(verdict.speed->outside, ", ")));
  }
  return trade_offs;
}

// --- Impact -----------------------------------------------------------------------------------

std::string percent_lower(double ratio) {
  return fmt::format("{:.0f} % {}", std::abs(1.0 - ratio) * 100.0,
                     ratio <= 1.0 ? "lower" : "higher");
}

std::string step_impact(const step::Difference& speed) {
  const double ratio = 1.0 / speed.speed;
  if (std::abs(ratio - 1.0) < kTermSeen) {
    return fmt::format("about the same ({} to {})", percent_lower(1.0 / speed.high),
                       percent_lower(1.0 / speed.low));
  }
  return fmt::format("about {} ({} to {})", percent_lower(ratio), percent_lower(1.0 / speed.high),
                     percent_lower(1.0 / speed.low));
}

double duty_of(const Estimate& estimate) {
  return 1.0 - (estimate.step.bubble + estimate.step.host) / estimate.step.step;
}

Impact layout_impact(const Estimate& before, const Estimate& after,
                     const std::optional<step::Difference>& speed) {
  constexpr double kPoint = 0.01;
  Impact impact;
  impact.step = speed ? step_impact(*speed) : "not known";
  const double had = duty_of(before);
  const double has = duty_of(after);
  impact.duty = std::abs(has - had) < kPoint
                    ? fmt::format("about the same ({:.0f} %)", 100.0 * has)
                    : fmt::format("{} ({:.0f} % -> {:.0f} %)", has > had ? "higher" : "lower",
                                  100.0 * had, 100.0 * has);
  const Seconds sent = before.step.exposed.total();
  const Seconds sends = after.step.exposed.total();
  const bool is_same = std::abs((sends - sent) / before.step.step) < kTermSeen;
  impact.communication = fmt::format("{} ({} -> {} exposed)",
                                     is_same        ? "about the same"
                                     : sends < sent ? "lower"
                                                    : "higher",
                                     to_text(sent), to_text(sends));
  const Bytes held = before.memory.fullest.device;
  const Bytes holds = after.memory.fullest.device;
  impact.memory = fmt::format("{} ({} -> {} a device)",
                              step::direction_of(held.base(), holds.base()) == Direction::kSame
                                  ? "about the same"
                              : holds < held ? "lower"
                                             : "higher",
                              to_text(held), to_text(holds));
  return impact;
}

}  // namespace

Proposal told_proposal(const Proposal& draft, const Verdict& verdict, const Told& told) {
  Proposal proposal = draft;
  if (draft.author == "built-in") {
    proposal.citations = standing_citations(verdict);
    if (verdict.before && verdict.after && verdict.speed && draft.change.setting.empty()) {
      const std::vector<Claim> more =
          further_claims({*verdict.before, *verdict.after, true, !verdict.memory, *verdict.speed});
      proposal.claims.insert(proposal.claims.end(), more.begin(), more.end());
      proposal.citations.push_back({verify::Cited::kModel, "step", {}});
    }
  }
  if (proposal.reasoning.bottleneck.empty()) {
    proposal.reasoning.bottleneck = bottleneck_sentence(draft, verdict, told);
  }
  if (proposal.reasoning.memory.empty()) {
    proposal.reasoning.memory = memory_sentence_of(draft, verdict, told.standing);
  }
  if (proposal.reasoning.comparison.empty()) {
    proposal.reasoning.comparison = comparison_sentence(verdict);
  }
  proposal.trade_offs = trade_offs_of_job(draft, verdict);
  return proposal;
}

Impact impact_of_verdict(const Proposal& proposal, const Verdict& verdict) {
  if (verdict.before && verdict.after) {
    return layout_impact(*verdict.before, *verdict.after, verdict.speed);
  }
  if (verdict.after) {
    return {
        .step = "nothing to compare it with",
        .duty = fmt::format("{:.0f} % expected", 100.0 * duty_of(*verdict.after)),
        .communication = fmt::format("{} exposed", to_text(verdict.after->step.exposed.total())),
        .memory = fmt::format("{} a device", to_text(verdict.after->memory.fullest.device))};
  }
  if (proposal.change.setting.empty()) {
    return {.step = "not known",
            .duty = "not known",
            .communication = "not known",
            .memory = "not known"};
  }
  const auto told = std::ranges::find_if(verdict.claims, [](const verify::JudgedClaim& judged) {
    return verify::is_speed(judged.claim.quantity);
  });
  return {.step = told == verdict.claims.end() || told->ruling == verify::ClaimRuling::kCannotTell
                      ? "not known"
                      : fmt::format("at most {}", percent_lower(told->ratio)),
          .duty = "not known",
          .communication = "not known",
          .memory = "not known"};
}

std::vector<verify::Citation> citations_about(const JobCandidate& candidate,
                                              const std::vector<kb::Entry>& entries,
                                              const Standing& standing, std::size_t most) {
  std::vector<verify::Citation> citations;
  if (!candidate.layout) {
    return citations;
  }
  describe::Job after = standing.job;
  after.layout = *candidate.layout;
  const std::vector<verify::ChangedKey> keys = verify::changed_keys(standing.job, after);
  for (const kb::Entry& entry : entries) {
    const bool is_about =
        std::ranges::any_of(kb::changed_keys(entry), [&](const kb::NamedKey& one) {
          return std::ranges::find(keys, one.key, &verify::ChangedKey::key) != keys.end();
        });
    const std::vector<verify::Citation>& own = candidate.proposal.citations;
    const bool is_cited = std::ranges::find(own, entry.id, &verify::Citation::id) != own.end();
    if (is_about && !is_cited && citations.size() < most) {
      citations.push_back({verify::Cited::kEntry, entry.id, {}});
    }
  }
  return citations;
}

}  // namespace sextant::agents
