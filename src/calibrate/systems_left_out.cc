#include "calibrate/systems_left_out.h"

#include <array>
#include <map>
#include <string>

#include "calibrate/comm_calls.h"
#include "measured/comm_groups.h"

namespace sextant::calibrate {
namespace {

// Errors of one system.
struct Sums {
  double seen = 0.0;
  double unseen = 0.0;
  double rows = 0.0;
};
using BySystem = std::map<std::string, Sums>;

LeaveOneOut mean_of(std::string name, const BySystem& systems) {
  LeaveOneOut mean{std::move(name), 0.0, 0.0};
  const auto count = static_cast<double>(systems.size());
  for (const auto& [system, sums] : systems) {
    mean.seen += sums.seen / sums.rows / count;
    mean.unseen += sums.unseen / sums.rows / count;
  }
  return mean;
}

}  // namespace

Result<std::vector<LeaveOneOut>> systems_left_out(const std::vector<measured::Row>& rows,
                                                  const describe::DataStore& data) {
  SEXTANT_TRY(const std::vector<LeftOutSystem> left,
              leave_systems_out(comm_calls(rows, data), data));
  std::array<BySystem, measured::kSizeBuckets + 1> sums;
  for (const LeftOutSystem& system : left) {
    for (std::size_t i = 0; i < system.sizes.size(); ++i) {
      const auto bucket = static_cast<std::size_t>(measured::size_bucket(system.sizes[i]));
      for (const std::size_t at : {bucket, measured::kSizeBuckets}) {
        Sums& own = sums[at][system.system];
        own.seen += system.seen[i];
        own.unseen += system.unseen[i];
        own.rows += 1.0;
      }
    }
  }
  std::vector<LeaveOneOut> scores;
  for (std::size_t at = 0; at < sums.size(); ++at) {
    if (!sums[at].empty()) {
      scores.push_back(mean_of(at < measured::kSizeBuckets
                                   ? std::string(measured::kSizeBucketWords[at].second)
                                   : "all sizes",
                               sums[at]));
    }
  }
  return scores;
}

}  // namespace sextant::calibrate
