// docs/diagnosis_real.md: recorded runs, what came first, what was claimed and what mending saved.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "recorded_pairs.h"

namespace sextant::tests {

struct DiagnosedPlain {
  const RecordedPlain* plain = nullptr;
  diagnose::Diagnosis diagnosis;
};

// A kind of cause, its rule, and whether a run with it was recorded; others were made.
struct ListedKind {
  std::string_view kind;
  std::string_view rule;
  bool is_real = false;
};
const std::vector<ListedKind>& listed_kinds();

// Counted of those whose fault took effect.
struct PairCounts {
  int asked = 0;
  int right = 0;
  int timed = 0;  // whose saving is known
  int kept = 0;
};
PairCounts counts_of(const std::vector<DiagnosedPair>& pairs);

inline constexpr double kQuietShare = 0.03;  // of a step
std::string real_page(const std::vector<DiagnosedPair>& pairs,
                      const std::vector<DiagnosedPlain>& plain);

}  // namespace sextant::tests
