// Does a citation exist, and does it say what it is cited for?
//
// An entry of the knowledge base must hold for the job (its family of devices and its framework,
// where it names some; a practice's class of model too) and be about the same change: a key that
// the proposal changes is among those its before and after name, or of a change or an axis that it
// is about. Where it says a direction for such keys and the proposal goes the other way, what it
// says is turned round: who says that TP 1 -> 8 is slower says that TP 8 -> 1 is faster. Cited for
// a claim, it must then expect, or have measured, that quantity in that direction (step and
// token-time are one, and so are the bubble and its share); its size is not held against it, since
// it is of another job. Cited for nothing but the change, it must not advise against it. A finding
// must be one of the run's that is worth mending; a rule must be in the rule book.
#pragma once

#include <string>
#include <vector>

#include "verify/judge.h"

namespace sextant::verify {

// A layout key that a proposal changes.
struct ChangedKey {
  std::string key;
  std::string before;
  std::string after;
};
// Of one layout against another of the same job; dp is what it comes to.
std::vector<ChangedKey> changed_keys(const describe::Job& before, const describe::Job& after);

// The change that citations are to be about.
struct CitedChange {
  const describe::Job& job;
  std::vector<ChangedKey> keys = {};
  std::string setting = {};  // where no key says it
};
JudgedCitation judged_citation(const Citation& citation, const CitedChange& change,
                               const Bench& bench);

}  // namespace sextant::verify
