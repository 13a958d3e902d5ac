// The judgement of one change to the layout, as judge() and judge_among() share it.
#pragma once

#include "verify/judge.h"

namespace sextant::verify {

enum class MemoryRule {
  kDecides,  // what does not fit is rejected
  kIsNoted,  // Verdict::memory says it, and the claims are judged all the same
};
Verdict judged_layout(const Proposal& proposal, const Bench& bench, MemoryRule memory);

}  // namespace sextant::verify
