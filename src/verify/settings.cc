#include "verify/settings.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "verify/citations.h"
#include "verify/claims.h"
#include "verify/conclude.h"

namespace sextant::verify {
namespace {

using diagnose::Diagnosis;
using diagnose::Finding;
using step::Direction;

FindingRuling undecided(std::string why, std::string missing) {
  return {Ruling::kUndecidable, std::move(why), std::move(missing)};
}

// No finding of that rule: was it not asked, or not found?
FindingRuling not_found(std::string_view rule, const Diagnosis& diagnosis) {
  for (const diagnose::Abstention& abstention : diagnosis.abstentions) {
    if (abstention.rule == rule) {
      return undecided(fmt::format("whether there is '{}' in this run was not recorded", rule),
                       fmt::format("a profile with {}", abstention.missing));
    }
  }
  return {Ruling::kRejected, fmt::format("this run has no '{}' to mend", printable(rule))};
}

FindingRuling of_finding(const Finding& finding, const Diagnosis& diagnosis) {
  if (finding.explained_by) {
    return {Ruling::kRejected, fmt::format("'{}' is explained by '{}': nothing to mend there",
                                           finding.rule, *finding.explained_by)};
  }
  if (finding.per_step <= Seconds() || diagnosis.step <= Seconds()) {
    return {Ruling::kRejected, fmt::format("'{}' costs no time of a step", finding.rule)};
  }
  FindingRuling ruling{Ruling::kAccepted,
                       fmt::format("'{}' ({}) costs up to {} of {} a step", finding.rule,
                                   diagnose::name_of(finding.status), to_text(finding.per_step),
                                   to_text(diagnosis.step)),
                       {},
                       &finding};
  if (finding.status == diagnose::Status::kUnverified) {
    ruling.ruling = Ruling::kUndecidable;
    ruling.missing = fmt::format("a profile that shows the cause of '{}'", finding.rule);
  }
  return ruling;
}

std::string_view first_word(std::string_view setting) {
  const std::string_view clean = trimmed(setting);
  return clean.substr(0, std::min(clean.find_first_of(" =:"), clean.size()));
}

// Does anybody say that such a setting mends it?
bool is_advised(const Proposal& proposal, const Verdict& verdict, const Bench& bench) {
  const auto cited = [](const JudgedCitation& judged) {
    return judged.stands && judged.citation.kind == Cited::kEntry;
  };
  if (bench.advice == nullptr || std::ranges::any_of(verdict.citations, cited)) {
    return true;
  }
  const diagnose::Rule* rule = bench.advice->find(proposal.change.mends);
  if (rule == nullptr) {
    return false;
  }
  const std::string_view name = first_word(proposal.change.setting);
  return std::ranges::any_of(rule->advice, [name](const diagnose::Advice& advice) {
    return std::ranges::any_of(advice.settings, [name](const diagnose::Setting& setting) {
      return setting.text.find(name) != std::string::npos;
    });
  });
}

JudgedClaim claim_of_setting(const Claim& claim, const Finding& finding, Seconds whole) {
  if (!is_speed(claim.quantity)) {
    return untold_claim(claim, "of a setting only the step is judged");
  }
  const Seconds least = std::max(whole - finding.per_step, Seconds());
  const double floor = least / whole;
  JudgedClaim judged{.claim = claim, .ratio = floor, .interval = {floor, 1.0}};
  const bool size = !claim.ratio || (claim.ratio->high >= floor && claim.ratio->low <= 1.0);
  if (claim.direction == Direction::kLower) {
    judged.ruling = size ? ClaimRuling::kHolds : ClaimRuling::kWrongSize;
  } else if (claim.direction == Direction::kSame) {
    judged.ruling =
        1.0 - floor <= step::kClaimedSameShare ? ClaimRuling::kHolds : ClaimRuling::kCannotTell;
  } else {
    judged.ruling = ClaimRuling::kRefuted;
  }
  judged.term = fmt::format("'{}' −{}", finding.rule, to_text(finding.per_step));
  judged.why =
      fmt::format("claimed {}; mending '{}' can gain {} of {} at most: x{:.2f}", words_of(claim),
                  finding.rule, to_text(finding.per_step), to_text(whole), floor);
  return judged;
}

}  // namespace

FindingRuling finding_ruling(const Change& change, const Bench& bench) {
  if (bench.diagnosis == nullptr) {
    return undecided(
        fmt::format("no layout key says '{}', and no run was diagnosed", printable(change.setting)),
        "a profile of the run");
  }
  if (change.mends.empty()) {
    return undecided(
        fmt::format("nothing says which finding '{}' mends", printable(change.setting)),
        "the finding that it is to mend");
  }
  for (const Finding& finding : bench.diagnosis->findings) {
    if (finding.rule == change.mends) {
      return of_finding(finding, *bench.diagnosis);
    }
  }
  return not_found(change.mends, *bench.diagnosis);
}

Verdict judge_setting(const Proposal& proposal, const Bench& bench) {
  const CitedChange cited{bench.task.problem.job, {}, proposal.change.setting};
  Verdict verdict;
  for (const Citation& citation : proposal.citations) {
    verdict.citations.push_back(judged_citation(citation, cited, bench));
  }
  const FindingRuling ruling = finding_ruling(proposal.change, bench);
  if (!ruling.missing.empty()) {
    verdict.missing.push_back(ruling.missing);
  }
  for (const Claim& claim : proposal.claims) {
    verdict.claims.push_back(ruling.finding != nullptr
                                 ? claim_of_setting(claim, *ruling.finding, bench.diagnosis->step)
                                 : untold_claim(claim, ruling.why));
  }
  if (ruling.ruling != Ruling::kAccepted) {
    return ended(std::move(verdict), ruling.ruling, Ground::kFinding, ruling.why);
  }
  if (!is_advised(proposal, verdict, bench)) {
    verdict.missing.emplace_back("a source that says so");
    return ended(std::move(verdict), Ruling::kUndecidable, Ground::kFinding,
                 fmt::format("nothing says that '{}' mends '{}'",
                             printable(proposal.change.setting), proposal.change.mends));
  }
  return concluded(std::move(verdict), ruling.why);
}

}  // namespace sextant::verify
