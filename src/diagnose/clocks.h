// The clocks of a job's ranks, laid over one another.
//
// No rank is done with an all-reduce before all have come to it, so its end is one moment on all of
// them, to some tens of microseconds. From many such ends follows how each rank's clock differs
// from the reference's: by an offset and a drift. Medians throughout: a collective that one rank
// ended late moves nothing. Ranks that share no group with the reference are reached over those
// that do. Ranks that only exchange messages are placed by bounds: a message is not received before
// it was sent, nor is a sender done before its receiver has begun.
//
// Diagnosis itself asks for no common clock (replay_graph.h); it is needed to show ranks side by
// side, and to say when one of them did what.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "diagnose/meetings.h"
#include "metrics/summary.h"

namespace sextant::diagnose {

// Quartz is off by some 50 parts in a million, two by twice that; what is beyond is no drift.
// Source: RFC 5905, 11.3: NTP bounds frequency by 500 parts in a million.
inline constexpr double kMostDrift = 500e-6;
// Fewer ends in common say nothing of how well they fit.
inline constexpr std::size_t kFewestEnds = 3;

struct RankClock {
  bool is_aligned = false;
  std::int64_t base_ns = 0;    // on this clock
  std::int64_t offset_ns = 0;  // what the reference's showed at `base_ns`, less that
  double drift = 0.0;          // what the reference's gains on it, of a second in a second
  std::size_t ends = 0;        // that it was fitted to; 0: the reference's, or by messages alone
  // The moment on the reference's clock. REQUIRES: is_aligned.
  [[nodiscard]] std::int64_t on_reference(std::int64_t at_ns) const;
};

struct Clocks {
  std::vector<RankClock> ranks;  // as Summary::ranks
  std::uint32_t reference = 0;   // place in it
  // How far ends of one collective still lie apart from their median: of half of them no further,
  // and of nineteen in twenty. Nothing where none was used.
  std::optional<Seconds> typical_residual = std::nullopt;
  std::optional<Seconds> high_residual = std::nullopt;
  std::size_t unaligned = 0;  // ranks
};

// n log n in the instances.
Clocks clocks_of(const metrics::Summary& summary, const Meetings& meetings);

}  // namespace sextant::diagnose
