// A measured run beside a published one: term by term why one takes longer than the other, for as
// many tokens a device.
#pragma once

#include <string>
#include <vector>

#include "describe/assumption.h"
#include "explain/provenance.h"
#include "explain/step_result.h"
#include "explain/style.h"

namespace sextant::explain {

struct MeasuredStep {
  std::string name;  // a file, or the row's id
  std::string layout;
  std::string cluster;
  std::string model;
  Seconds measured;
  step::Estimate predicted;
};

struct RunComparison {
  Provenance provenance;
  MeasuredStep ours;
  MeasuredStep theirs;
  describe::Assumptions assumed;
};

// One line of it: seconds of our step, and what theirs would take for as many tokens a device.
struct TermDifference {
  std::string name;
  Seconds ours;
  Seconds theirs;
  [[nodiscard]] Seconds longer() const { return ours - theirs; }
};
// The terms of the two predictions, then what measurements add to them ("not in the model"): they
// sum to the measured steps.
std::vector<TermDifference> differences(const RunComparison& runs);

// JSON: schema sextant.compare-runs/2.
std::string to_text(const RunComparison& runs, const Style& style);

}  // namespace sextant::explain
