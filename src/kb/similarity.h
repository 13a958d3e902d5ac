// How much an entry is about what is asked: a sum of named terms.
#pragma once

#include <string>
#include <vector>

#include "kb/entry.h"

namespace sextant::kb {

struct RankTerm {
  std::string what;  // "device h100-sxm", "words"
  double points = 0;
};

// A term for each feature that is asked for and that the entry says something of; a feature that
// speaks against the entry (a TPU is asked for, it is of GPUs) has less than no points. `weight`
// scales them: features that were stated weigh more than those that words were taken for.
std::vector<RankTerm> similarity(const Features& asked, const Features& about, double weight);

}  // namespace sextant::kb
