// What of a job's communication nothing hides, by axis and apart from waiting for late ranks: what
// the rules on exposed communication and on uneven work share.
//
// An instance of a collective has the rank to itself for some time (metrics/exposure.h). Of that
// its transfer, the shortest that any of its ranks took, is the communication's own; what is
// beyond, the rank waited for others to come. Where the same operation of the same size takes
// another group of the axis less, that is what it takes, and what is beyond is that group's own
// trouble: a slow link, another rule. Of a single rank the fastest of its occurrences that are
// alike stands for the transfer: it may still hold waiting.
//
// What hiding a group's communication frees is what the rank has that stands in it least: who is
// always late stands in none, and then the others only wait. Short waits are part of it, since
// ranks that needn't meet needn't wait for the chance that one was a little slower.
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
  Seconds late;      // of `transfer`: of those that were waited for
};
struct ExposedInstance {
  std::uint32_t rank = 0;      // place in Summary::ranks
  std::uint32_t instance = 0;  // in RankSummary::instances
  std::int64_t exposed_ns = 0;
};
struct AxisExposure {
  bool is_seen = false;
  bool is_said = true;                   // of all its groups; else some are inferred
  bool is_matched = true;                // transfers are those of several ranks
  std::vector<ExposedTime> ranks;        // as Summary::ranks
  std::vector<ExposedInstance> longest;  // at most kMostEvidence, the longest first
  std::array<bool, 6> ops{};             // CollectiveOps of which something is exposed
  Seconds hideable;                      // of a mean step: what hiding it all frees, at most
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
