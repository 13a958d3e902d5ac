// What becomes of a claim when the model has priced the job before and after the change.
//
// Step and token-time: the interval of the difference (step/difference.h), turned from speeds into
// times. A direction holds where the interval lies on that side of 1, is refuted where it lies on
// the other, and cannot be told where it holds 1; "the same" holds within three percent
// (step::kClaimedSameShare). A size holds where the claimed range meets the interval and does not
// begin at twice the effect. Of what is lower that follows from the interval, which is shorter than
// the effect where it leaves 1 out (of a ratio r within a factor s, r · s < 1 gives 2r − 1 ≤ r² <
// r / s); of what is higher it does not (x1.13 within a factor of 1.13 reaches x1.28), so it is
// asked. A right sign with twice the size is a wrong size. A size outside an interval that does not
// even tell the direction is refuted.
//
// Terms of the step (exposed communication, bubble, compute, host, update): the model's own terms.
// They were not measured apart often enough to have an interval of their own; collectives err by
// 12 %, kernels by 5 %, phases of a step by 9 % (docs/validation.md), which is the width that steps
// have, and theirs is taken: ratio over and times the same spread. A term has moved where that
// interval leaves 1 out and the change is a thousandth of the step as it was.
//
// Memory: arithmetic, so the direction is the model's own, beyond two thousandths
// (step::kSameShare). A size holds within the model's error (kMemoryError), or half of the change
// where that is less: what both layouts keep alike cancels.
//
// Fits: whether both sides fit is known; nothing is estimated.
#pragma once

#include <string>

#include "step/difference.h"
#include "step/step_answer.h"
#include "verify/proposal.h"
#include "verify/verdict.h"

namespace sextant::verify {

// Mean error of reserved memory, 123 measured (docs/validation.md, Plots: reserved memory).
inline constexpr double kMemoryError = 0.041;
// Of a step: less is not seen in a profile.
inline constexpr double kSeenShare = 0.001;

// The job before and after the change, as the model has it.
struct Sides {
  const step::Estimate& before;
  const step::Estimate& after;
  bool fits_before = true;
  bool fits_after = true;
  step::Difference speed;  // of after against before
};

JudgedClaim judged_claim(const Claim& claim, const Sides& sides);
// Where one side is not known: the claim cannot be told.
JudgedClaim untold_claim(const Claim& claim, std::string why);

// The direction and size of a claim against a ratio of which this much is known.
ClaimRuling ruling_of(const Claim& claim, double ratio, step::RatioRange interval);

// "step lower, x0.7 to x0.85".
std::string words_of(const Claim& claim);
// "x0.87 (x0.80 to x0.95)".
std::string ratio_words(double ratio, step::RatioRange interval);
// The term that moved most the way the step did: "bubble −32.1 ms".
std::string moved_most(const step::Estimate& before, const step::Estimate& after);

bool is_speed(step::Quantity quantity);

}  // namespace sextant::verify
