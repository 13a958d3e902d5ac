// The whole diagnosis of a run: every rule asked of one scene, findings in order of what they are
// worth.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/bottleneck.h"
#include "diagnose/finding.h"
#include "diagnose/scene.h"

namespace sextant::diagnose {

// Findings of one family of rules, and what it could not be asked.
struct Findings {
  std::vector<Finding> found;
  std::vector<Abstention> abstained;
  std::vector<std::string> notes = {};  // what it rests on, or leaves open, a sentence each
};

struct Diagnosis {
  Seconds step;       // mean, that all seconds are of
  PartTimes parts{};  // of it
  BottleneckClass bottleneck = {};
  std::vector<Finding> findings;        // worth most first; explained ones after all others
  std::vector<Abstention> abstentions;  // by rule
  std::vector<std::string> notes;       // what they rest on, in order of families
  Seconds ceiling;                      // total_ceiling of the findings
};

struct FabricView;
struct LaidOver;

// `laid`: a predicted step beside it (laid_over.h); `fabric`: what its collectives should reach
// (fabric.h). Null: not given.
Diagnosis diagnosis_of(const Scene& scene, const LaidOver* laid = nullptr,
                       const FabricView* fabric = nullptr);

}  // namespace sextant::diagnose
