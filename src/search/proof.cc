#include "search/proof.h"

#include "search/baselines/baselines.h"

namespace sextant::search {

Proof prove(const Space& space, const Found& found, std::uint64_t seed) {
  Proof proof;
  proof.possible = Space(space).count();
  proof.exhaustive = proof.possible <= kMostProved;
  proof.checked = proof.exhaustive ? proof.possible : static_cast<double>(kSampled);
  const BaselineResult other =
      proof.exhaustive ? exhaustive(space) : random_layouts(space, kSampled, seed);
  const bool beaten =
      other.plan && (found.plans.empty() || other.plan->time.step < found.plans.front().time.step);
  if (beaten) {
    proof.better = other.plan;
  }
  return proof;
}

}  // namespace sextant::search
