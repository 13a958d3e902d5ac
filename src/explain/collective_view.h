// How long one collective takes on a group of ranks, which way it goes, and what that is as
// bandwidth; the same with one factor varied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "cost/comm/collective_time.h"
#include "describe/assumption.h"
#include "describe/collective.h"
#include "describe/comm_facts.h"
#include "describe/sourced.h"
#include "explain/bandwidth_plot.h"
#include "explain/drawing.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

// One way to run it: its time is the sum of its terms.
struct CollectiveWay {
  std::string algorithm;      // "ring"
  std::string protocol;       // "simple"; "" where there is no choice
  std::string limit;          // whose rate it runs at: "scale-up", "network", "ici"
  BytesPerSecond limit_rate;  // that rate, as the bus bandwidth that a message without end gets
  Seconds latency;
  Seconds transfer;
  Seconds fill;
  [[nodiscard]] Seconds total() const { return latency + transfer + fill; }
};

struct CollectiveEstimate {
  describe::CollectiveOp op = describe::CollectiveOp::kAllReduce;
  Bytes bytes;  // as cost::CommLines counts them
  cost::GroupShape group;
  std::int64_t stride = 1;
  std::vector<CollectiveWay> ways;  // the quickest first; none where nothing is sent
  Seconds time;
  std::optional<BytesPerSecond> bus;        // as nccl-tests counts it; nothing of one rank
  std::optional<BytesPerSecond> algorithm;  // bytes over time
  std::optional<BytesPerSecond> best_rate;  // bus bandwidth of a message without end
  // Nine of ten healthy systems lie between time / spread and time · spread; nothing where too few
  // were measured.
  std::optional<double> spread;
  // An all-reduce that a framework issues in three parts; nothing where the group has one level.
  std::optional<cost::HierarchicalTerms> hierarchical;
  std::string links;    // id of data/comm/links; "torus" of TPUs; ""
  std::string network;  // id of data/comm/networks; ""
  describe::Assumptions assumed;
};

// A constant that the answer goes by.
struct CollectiveConstant {
  std::string file;  // "comm/links/nvlink4.toml"
  std::string name;  // "simple.hop"
  describe::CommUnit unit = describe::CommUnit::kTime;
  describe::Sourced<double> value;  // SI
};

struct CollectiveAnswer {
  Provenance provenance;
  std::string cluster;  // as the user wrote it
  CollectiveEstimate estimate;
  std::vector<CollectiveConstant> constants;
  describe::Assumptions assumed;
  bool show_constants = false;  // in text; JSON always has them
};

struct CollectivePoint {
  std::string value;
  std::optional<CollectiveEstimate> estimate;  // nothing where there is no such group …
  std::string reason;                          // … for this reason
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
std::string group_text(const CollectiveEstimate& estimate);
// From time / spread to time · spread.
std::optional<std::pair<Seconds, Seconds>> time_range(const CollectiveEstimate& estimate);
// Lowest first.
std::optional<std::pair<BytesPerSecond, BytesPerSecond>> bus_range(
    const CollectiveEstimate& estimate);

}  // namespace sextant::explain
