// Which pipeline ranks lie on the machine as others do, so that only one of them need be priced.
//
// Pipeline rank r starts at device r · stride, and domains are filled in order: where a rank starts
// inside its domain repeats with period domain / gcd(stride, domain). Its groups then reach as far
// into as many domains. Two things go by where the pipeline ends: to send to the next rank, the
// last sends to the first; and the last domain may not be full.
#pragma once

#include <cstdint>

#include "workload/groups.h"

namespace sextant::step {

struct PipelinePlaces {
  std::int64_t period = 1;  // ranks that far apart lie alike
  std::int64_t tail = 1;    // but from this rank on each lies like no other

  // The first rank that lies as this one does.
  [[nodiscard]] std::int64_t place_of(std::int64_t pipeline_rank) const {
    return pipeline_rank < tail ? pipeline_rank % period : pipeline_rank;
  }
  [[nodiscard]] bool all_alike(std::int64_t pp) const { return period == 1 && tail >= pp; }
  bool operator==(const PipelinePlaces&) const = default;
};

// Of `pp` ranks, each taken to lie like no other.
inline PipelinePlaces places_apart(std::int64_t pp) {
  return {pp, pp};
}

// REQUIRES: the grid has pp pipeline ranks, domain_size ≥ 1.
PipelinePlaces pipeline_places(const workload::RankGrid& grid, std::int64_t pp,
                               std::int64_t domain_size);

}  // namespace sextant::step
