// What of a job's communication nothing hides, by axis and apart from waiting for late ranks: what
// the rules on exposed communication and on uneven work share.
//
// An instance of a collective has the rank to itself for some time (metrics/exposure.h). Of that at
// most its transfer, the shortest that any of its ranks took, is the communication's own; what is
// beyond, the rank waited for others to come. Where the same operation of the same size takes
// another group of the axis less, that is what it takes, and what is beyond is that group's own
// trouble: a slow link, another rule. Of a single rank the fastest of its occurrences that are
// alike stands for the transfer: it may still hold waiting.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "diagnose/axis.h"
#include "diagnose/finding.h"
#include "diagnose/scene.h"

namespace sextant::diagnose {

// Of a mean step of a rank.
struct ExposedTime {
  Seconds transfer;  // nothing hides it
  Seconds waiting;   // alone, for those that come late or for what is slow about this group
};
struct ExposedInstance {
  std::uint32_t rank = 0;      // place in Summary::ranks
  std::uint32_t instance = 0;  // in RankSummary::instances
  std::int64_t exposed_ns = 0;
};
struct AxisExposure {
  bool is_seen = false;
  bool is_said = true;                          // of all its groups; else some are inferred
  bool is_matched = true;                       // transfers are those of several ranks
  std::vector<ExposedTime> ranks;               // as Summary::ranks
  std::vector<ExposedInstance> longest;         // at most kMostEvidence, the longest first
  std::array<bool, 6> ops{};                    // CollectiveOps of which something is exposed
  [[nodiscard]] Seconds most_transfer() const;  // of the rank with the most
  [[nodiscard]] Seconds mean_waiting() const;
};

struct CommunicationTimes {
  std::array<AxisExposure, step::kAxes> axes;
  AxisExposure unknown;  // groups of which no axis is known
  [[nodiscard]] const AxisExposure& operator[](Axis axis) const {
    return axes[static_cast<std::size_t>(axis)];
  }
};

CommunicationTimes communication_times(const Scene& scene);

}  // namespace sextant::diagnose
