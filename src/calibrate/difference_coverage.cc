#include <cmath>
#include <map>
#include <utility>

#include "base/statistics.h"
#include "calibrate/difference_fit.h"

namespace sextant::calibrate {

std::vector<DifferenceCoverage> difference_coverage(const std::vector<DifferencePair>& pairs,
                                                    const describe::DifferenceSpreads& spreads) {
  std::map<std::string, DifferenceCoverage> sources;
  std::map<std::string, std::vector<double>> widths;
  for (const DifferencePair& pair : pairs) {
    if (pair.changes.empty()) {
      continue;
    }
    const auto seen = spreads.width(*pair.one, *pair.other);
    const auto unseen = spreads.width(*pair.one, *pair.other, pair.source);
    DifferenceCoverage& one = sources[pair.source];
    one.pairs += 1;
    one.outside += unseen.outside.empty() ? 0 : 1;
    const double width = unseen.spread(pair.predicted);
    one.seen += pair.error() <= std::log(seen.spread(pair.predicted)) ? 1.0 : 0.0;
    one.left_out += pair.error() <= std::log(width) ? 1.0 : 0.0;
    widths[pair.source].push_back(width);
  }
  std::vector<DifferenceCoverage> found;
  for (auto& [source, one] : sources) {
    one.source = source;
    one.seen /= static_cast<double>(one.pairs);
    one.left_out /= static_cast<double>(one.pairs);
    one.width = median(widths[source]).value_or(1.0);
    found.push_back(std::move(one));
  }
  return found;
}

double mean_left_out(const std::vector<DifferenceCoverage>& coverage) {
  std::vector<double> shares;
  for (const DifferenceCoverage& one : coverage) {
    if (one.pairs >= kScoredPairs) {
      shares.push_back(one.left_out);
    }
  }
  return mean(shares).value_or(0.0);
}

}  // namespace sextant::calibrate
