// From judged claims and citations to the ruling: see judge.h.
#pragma once

#include "verify/verdict.h"

namespace sextant::verify {

// The verdict with its ruling, ground and reason. `sound`: what is said where nothing is wrong.
// REQUIRES: nothing before the claims has ended the judgement.
Verdict concluded(Verdict verdict, std::string sound);

// One that ends before the claims.
Verdict ended(Verdict verdict, Ruling ruling, Ground ground, std::string reason);

}  // namespace sextant::verify
