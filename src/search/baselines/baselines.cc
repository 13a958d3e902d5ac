#include "search/baselines/baselines.h"

#include "search/baselines/alpa.h"

namespace sextant::search {
namespace {

constexpr std::int64_t kSamples = 10'000;
constexpr std::uint64_t kSeed = 1;

}  // namespace

BaselineResult baseline(Baseline which, const Problem& problem) {
  switch (which) {
    case Baseline::kRule:
      return megatron_rule(problem);
    case Baseline::kAlpa: {
      const AlpaResult result = alpa(problem, Submeshes::kEvery);
      return {result.plan, result.calls};
    }
    case Baseline::kExhaustive:
      return exhaustive(Space(problem));
    case Baseline::kRandom:
      return random_layouts(Space(problem), kSamples, kSeed);
    case Baseline::kBlackBox:
      break;
  }
  return black_box(problem);
}

}  // namespace sextant::search
