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

namespace sextant::explain {

struct Candidate {
  std::string name;    // what makes it different: its layout or its cluster
  std::string layout;  // all of it
  std::string cluster;
  std::optional<step::Estimate> result;  // nothing where it is not legal …
  std::vector<std::string> reasons;      // … or its machine is not known
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
  describe::Assumptions assumed;  // of all of them alike
};

// The one with the most tokens a second that runs; nothing where none does.
std::optional<std::size_t> best_of(const CompareAnswer& answer);

// Which term makes `best` faster than `other`: the one that shrank most, for each token.
struct Advantage {
  std::size_t best = 0;
  std::size_t other = 0;  // the first that runs, or the next best where `best` is the first
  double speed = 1.0;     // of best, over other's
  step::StepTerm term;
  Seconds shorter;  // by so much a step of the best one's tokens
  Seconds saved;    // of the step
};
std::optional<Advantage> advantage_of(const CompareAnswer& answer);

// JSON: schema sextant.compare/2.
std::string to_text(const CompareAnswer& answer, const Style& style);

}  // namespace sextant::explain
