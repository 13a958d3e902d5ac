#include "search/proof.h"

#include "search/baselines/baselines.h"

namespace sextant::search {

Proof prove(const Space& space, const Found& found, double computing_weight, std::uint64_t seed) {
  Proof proof;
  proof.possible = Space(space).count();
  proof.exhaustive = proof.possible <= kMostProved;
  proof.checked = proof.exhaustive ? proof.possible : static_cast<double>(kSampled);
  const BaselineResult other = proof.exhaustive
                                   ? exhaustive(space, computing_weight)
                                   : random_layouts(space, kSampled, seed, computing_weight);
  const bool beaten =
      other.plan && (found.plans.empty() || other.plan->value(computing_weight) <
                                                found.plans.front().value(computing_weight));
  if (beaten) {
    proof.better = other.plan;
  }
  return proof;
}

}  // namespace sextant::search
