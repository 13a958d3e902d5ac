// Intervals of differences (data/step_difference.toml) from pairs of measured runs.
//
// A pair: two runs of one source, model, machine, framework and workload. Its error: the logarithm
// of the measured ratio of their speeds, over the predicted one. A class's factor is the least that
// holds eight of ten of a source's errors, in the mean over sources: one with ten thousand pairs
// counts no more than one with ten. Sources of fewer than five pairs speak together. What of an
// error is a share of the predicted change is taken off first: the share under which small and
// large changes are held alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "calibrate/run_samples.h"
#include "describe/difference_spread.h"

namespace sextant::calibrate {

struct DifferencePair {
  std::string source;  // RunSample::origin
  const describe::Job* one = nullptr;
  const describe::Job* other = nullptr;
  std::vector<describe::Change> changes;  // nothing differs: measured twice
  double measured = 1.0;                  // speed of the one over the other's
  double predicted = 1.0;
  [[nodiscard]] double error() const;  // ≥ 0: |ln(measured / predicted)|
  [[nodiscard]] double size() const;   // ≥ 0: |ln predicted|
};

// In the order of the samples, which must outlive them. REQUIRES: same sizes.
std::vector<DifferencePair> difference_pairs(const std::vector<RunSample>& samples,
                                             const std::vector<Seconds>& predicted);

// `origin` names the tables. An Error where too few pairs are left without some source.
Result<describe::DifferenceFile> fit_differences(const std::vector<DifferencePair>& pairs,
                                                 const std::string& origin);

// How much of a source's pairs its intervals hold.
struct DifferenceCoverage {
  std::string source;
  std::int64_t pairs = 0;
  std::int64_t outside = 0;  // pairs with a feature that no other source has
  double seen = 0.0;         // intervals that saw its pairs
  double left_out = 0.0;     // intervals that did not
  double width = 1.0;        // median factor of the latter
};
// By source, of pairs in which something differs.
std::vector<DifferenceCoverage> difference_coverage(const std::vector<DifferencePair>& pairs,
                                                    const describe::DifferenceSpreads& spreads);

// The mean over sources of at least so many pairs; 0 of none.
inline constexpr std::int64_t kScoredPairs = 20;
double mean_left_out(const std::vector<DifferenceCoverage>& coverage);

}  // namespace sextant::calibrate
