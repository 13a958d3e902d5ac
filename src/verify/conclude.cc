#include "verify/conclude.h"

#include <algorithm>
#include <utility>

#include "verify/claims.h"

namespace sextant::verify {
namespace {

const JudgedClaim* first_ruled(const Verdict& verdict, ClaimRuling ruling) {
  const auto found = std::ranges::find(verdict.claims, ruling, &JudgedClaim::ruling);
  return found == verdict.claims.end() ? nullptr : &*found;
}

// Of the claims that decide (those about the step's time, or all where there are none): can none be
// told? Then the first of them.
const JudgedClaim* nothing_told(const Verdict& verdict) {
  const auto speaks_of_speed = [](const JudgedClaim& judged) {
    return is_speed(judged.claim.quantity);
  };
  const bool all = std::ranges::none_of(verdict.claims, speaks_of_speed);
  const JudgedClaim* first = nullptr;
  for (const JudgedClaim& judged : verdict.claims) {
    if (!all && !speaks_of_speed(judged)) {
      continue;
    }
    if (judged.ruling != ClaimRuling::kCannotTell) {
      return nullptr;
    }
    first = first == nullptr ? &judged : first;
  }
  return first;
}

}  // namespace

Verdict ended(Verdict verdict, Ruling ruling, Ground ground, std::string reason) {
  verdict.ruling = ruling;
  verdict.ground = ground;
  verdict.reason = std::move(reason);
  return verdict;
}

Verdict concluded(Verdict verdict, std::string sound) {
  if (const JudgedClaim* refuted = first_ruled(verdict, ClaimRuling::kRefuted)) {
    std::string why = refuted->why;
    return ended(std::move(verdict), Ruling::kRejected, Ground::kClaims, std::move(why));
  }
  if (const JudgedClaim* untold = nothing_told(verdict)) {
    std::string why = untold->why;
    if (verdict.missing.empty()) {
      verdict.missing.emplace_back("a measured step of both: the models cannot tell them apart");
    }
    return ended(std::move(verdict), Ruling::kUndecidable, Ground::kClaims, std::move(why));
  }
  for (const ClaimRuling wrong : {ClaimRuling::kWrongSize, ClaimRuling::kCannotTell}) {
    if (const JudgedClaim* found = first_ruled(verdict, wrong)) {
      std::string why = found->why;
      return ended(std::move(verdict), Ruling::kCorrected, Ground::kClaims, std::move(why));
    }
  }
  const auto struck = std::ranges::find(verdict.citations, false, &JudgedCitation::stands);
  if (struck != verdict.citations.end()) {
    std::string why = struck->why;
    return ended(std::move(verdict), Ruling::kCorrected, Ground::kCitations, std::move(why));
  }
  return ended(std::move(verdict), Ruling::kAccepted, Ground::kNothing, std::move(sound));
}

}  // namespace sextant::verify
