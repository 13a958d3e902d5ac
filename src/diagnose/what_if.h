// What a job would take if something were otherwise: the what-if analysis of stragglers.
//
// Source: Lin et al. 2025, "Understanding Stragglers in Large Model Training Using What-if
// Analysis", arXiv:2505.05713, and its StragglerAnalysis artifact. Slowdown S = replayed as
// recorded over replayed ideally. Ideal: each type of work takes its mean, each type of
// communication the median of its transfer. What a choice of nodes explains: of the time between
// the two, how much goes when these take their ideal lengths and all others the recorded ones.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "diagnose/replay.h"

namespace sextant::diagnose {

struct JobReplay {
  ReplayGraph graph;
  std::vector<std::int64_t> actual_ns;  // lengths of nodes
  std::vector<std::int64_t> ideal_ns;
  Replay as_recorded;
  Seconds actual;  // mean step, replayed
  Seconds ideal;
  [[nodiscard]] double slowdown() const { return ideal > 0_s ? actual / ideal : 1.0; }
};
JobReplay job_replay(const metrics::Summary& summary, const Meetings& meetings);

// The mean step if these nodes took their ideal length.
Seconds mended(const JobReplay& job, const std::function<bool(const ReplayNode&)>& is_mended);
// The share of the slowdown that this explains; nothing where there is none.
std::optional<double> explained_share(const JobReplay& job, Seconds mended);

// How much longer than ideally a step takes if only these nodes take their recorded lengths, as a
// factor.
double slowdown_by(const JobReplay& job, const std::function<bool(const ReplayNode&)>& is_recorded);

struct SlowWorker {
  std::uint32_t rank = 0;  // place in Summary::ranks
  double slowdown = 1.0;   // S_w
};
// The 3 % slowest workers, at least one, the slowest first. Where ranks have dp and pp coordinates,
// S_w is the smaller of its replica's and its stage's slowdown, as in the study; else its own, of
// those 32 ranks whose work is longest beyond the ideal.
std::vector<SlowWorker> slowest_workers(const JobReplay& job);

}  // namespace sextant::diagnose
