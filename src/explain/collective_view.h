// How long one collective takes on a group of ranks, which way it goes, and what that is as
// bandwidth; the same with one factor varied.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "describe/assumption.h"
#include "describe/collective.h"
#include "explain/bandwidth_plot.h"
#include "explain/drawing.h"
#include "explain/provenance.h"
#include "explain/style.h"
#include "machine/collective_estimate.h"

namespace sextant::explain {

struct CollectiveAnswer {
  Provenance provenance;
  std::string cluster;  // as the user wrote it
  machine::CollectiveEstimate estimate;
  std::vector<machine::CollectiveConstant> constants;
  describe::Assumptions assumed;
  bool show_constants = false;  // in text; JSON always has them
};

struct CollectivePoint {
  std::string value;
  std::optional<machine::CollectiveEstimate> estimate;  // nothing where there is no such group …
  std::string reason;                                   // … for this reason
};

struct CollectiveSweepAnswer {
  Provenance provenance;
  std::string cluster;
  std::string factor;  // "bytes"
  std::string held;    // what stays the same: "all_gather over 32 ranks in 4 domains"
  std::vector<CollectivePoint> points;
  // Measured runs of the same kind, of a sweep of bytes; nothing where none were asked for.
  std::optional<std::vector<BandwidthSeries>> measured;
  describe::Assumptions assumed;
};

// JSON: schema sextant.estimate-collective/2.
std::string to_text(const CollectiveAnswer& answer, const Style& style);
// JSON: schema sextant.estimate-collective-sweep/2.
std::string to_text(const CollectiveSweepAnswer& answer, const Style& style);

// Bus bandwidth against bytes as a line with the measured runs as points; against other factors as
// bars with their intervals.
Drawing to_drawing(const CollectiveSweepAnswer& answer);

// Words and ranges that both answers use.
std::string collective_word(describe::CollectiveOp op);
// "32 ranks in 4 domains", "4 ranks in 1 domain, 2 devices apart".
std::string group_text(const machine::CollectiveEstimate& estimate);
// From time / spread to time · spread.
std::optional<std::pair<Seconds, Seconds>> time_range(const machine::CollectiveEstimate& estimate);
// Lowest first.
std::optional<std::pair<BytesPerSecond, BytesPerSecond>> bus_range(
    const machine::CollectiveEstimate& estimate);

}  // namespace sextant::explain
