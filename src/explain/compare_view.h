// Jobs that differ in layout or cluster, side by side: time, terms, memory, and why the best wins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "describe/assumption.h"
#include "explain/provenance.h"
#include "explain/step_result.h"
#include "explain/style.h"
#include "step/comparison.h"
#include "step/difference.h"

namespace sextant::explain {

struct Candidate {
  std::string name;    // what makes it different: its layout or its cluster
  std::string layout;  // all of it
  std::string cluster;
  std::optional<step::Estimate> result;        // nothing where it is not legal …
  std::vector<std::string> reasons;            // … or its machine is not known
  std::optional<step::Difference> difference;  // against the first that has a result
  // The result where it is legal and fits.
  [[nodiscard]] const step::Estimate* running() const {
    return result && result->memory.fits() ? &*result : nullptr;
  }
};

struct CompareAnswer {
  Provenance provenance;
  std::string model;
  std::int64_t global_batch = 0;
  std::vector<Candidate> candidates;
  step::Comparison comparison;                // of those that run
  std::optional<step::Difference> advantage;  // of the best over whom it is measured by
  describe::Assumptions assumed;              // of all of them alike
};

// JSON: schema sextant.compare/2.
std::string to_text(const CompareAnswer& answer, const Style& style);

}  // namespace sextant::explain
