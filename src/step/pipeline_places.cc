#include "step/pipeline_places.h"

#include <algorithm>
#include <numeric>

namespace sextant::step {
namespace {

// Where pp is not the slowest axis, experts may divide the ranks so that pipeline ranks stand
// elsewhere among them.
bool strays_among_experts(const workload::RankGrid& grid, std::int64_t pipeline_rank) {
  const workload::Coordinates at = grid.coordinates(grid.on_pipeline_rank(0, pipeline_rank));
  return at.etp != 0 || at.ep != 0 || at.expert_dp != 0;
}

}  // namespace

PipelinePlaces pipeline_places(const workload::RankGrid& grid, std::int64_t pp,
                               std::int64_t domain_size) {
  if (pp == 1 || grid.world() <= domain_size) {
    return {1, pp};
  }
  if (strays_among_experts(grid, 1) || strays_among_experts(grid, pp - 1)) {
    return places_apart(pp);
  }
  const std::int64_t stride = grid.on_pipeline_rank(0, 1);
  PipelinePlaces places{domain_size / std::gcd(stride, domain_size), pp};
  // The last sends to the first, which is in another domain where the last has others like it;
  // these send one stride on.
  const std::int64_t last = grid.on_pipeline_rank(0, pp - 1);
  if (last % domain_size + stride < domain_size) {
    places.tail = pp - 1;
  }
  // Ranks in the last domain, where it is not full: groups of all ranks are smaller in it.
  const std::int64_t filled = grid.world() / domain_size * domain_size;
  if (filled < grid.world()) {
    places.tail = std::min(places.tail, (filled + stride - 1) / stride);
  }
  return places;
}

}  // namespace sextant::step
