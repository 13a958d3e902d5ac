// How long a collective takes on some ranks of a cluster.
//
// The group is the first `ranks` of the cluster with a stride: ranks 0, S, 2S, … Ranks fill
// scale-up domains in their order. With a stride, S such groups run side by side, and every device
// keeps its own share of the NICs.
//
// TPUs: a collective over one whole slice, by cost/comm/torus_time.h. Parts of a slice and several
// slices are not modelled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "cost/comm/collective_time.h"
#include "cost/comm/torus_time.h"
#include "describe/assumption.h"
#include "describe/cluster/cluster.h"
#include "describe/collective.h"
#include "describe/comm_facts.h"
#include "describe/comm_spread.h"
#include "describe/data_store.h"
#include "describe/sourced.h"
#include "describe/torus_facts.h"
#include "machine/comm_models.h"

namespace sextant::machine {

struct CollectiveQuestion {
  describe::Cluster cluster;
  describe::CollectiveOp op = describe::CollectiveOp::kAllReduce;
  Bytes bytes = 1_GiB;  // as cost::CommLines counts them; > 0
  std::int64_t ranks = 1;
  std::int64_t stride = 1;
  std::optional<describe::LinkFacts> links;  // instead of the cluster's own, at the file's rate
};

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

// As many as the cluster has room for. REQUIRES: stride ≥ 1.
std::int64_t most_ranks(const describe::Cluster& cluster, std::int64_t stride);

// Where the group lies, `domain_size` as reach_without_network. REQUIRES: all ≥ 1.
cost::GroupShape strided_group(std::int64_t ranks, std::int64_t stride, std::int64_t domain_size);

// Files are read once, so that a sweep costs little more than a single answer.
class CollectiveEstimator {
 public:
  // `data` must outlive it.
  explicit CollectiveEstimator(const describe::DataStore& data) : data_(data), models_(data) {}

  // An Error where the cluster has no such group, or where links or network are not known.
  Result<CollectiveEstimate> operator()(const CollectiveQuestion& question);

 private:
  Result<KnownComm> known_of(const CollectiveQuestion& question);
  Result<CollectiveEstimate> on_links(const CollectiveQuestion& question);
  Result<CollectiveEstimate> on_torus(const CollectiveQuestion& question);

  const describe::DataStore& data_;
  CommModels models_;
  std::optional<describe::CommSpread> spread_;
  std::optional<describe::TorusFacts> torus_;
};

// Files of data/ that an estimate goes by beside the cluster's: "comm/links/nvlink4.toml".
std::vector<std::string> constant_files(const CollectiveEstimate& estimate);
// Their constants, in the files' order.
Result<std::vector<CollectiveConstant>> collective_constants(const CollectiveEstimate& estimate,
                                                             const describe::DataStore& data);

}  // namespace sextant::machine
