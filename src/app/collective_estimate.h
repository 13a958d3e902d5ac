// How long a collective takes on some ranks of a cluster.
//
// The group is the first `ranks` of the cluster with a stride: ranks 0, S, 2S, … Ranks fill
// scale-up domains in their order. With a stride, S such groups run side by side, and every device
// keeps its own share of the NICs.
//
// TPUs: a collective over one whole slice, by cost/comm/torus_time.h. Parts of a slice and several
// slices are not modelled.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cost/comm/torus_time.h"
#include "describe/assumption.h"
#include "describe/cluster/cluster.h"
#include "describe/comm_facts.h"
#include "describe/comm_spread.h"
#include "describe/data_store.h"
#include "describe/torus_facts.h"
#include "explain/collective_view.h"
#include "machine/comm_models.h"

namespace sextant::app {

struct CollectiveQuestion {
  describe::Cluster cluster;
  describe::CollectiveOp op = describe::CollectiveOp::kAllReduce;
  Bytes bytes = 1_GiB;  // as cost::CommLines counts them; > 0
  std::int64_t ranks = 1;
  std::int64_t stride = 1;
  std::optional<describe::LinkFacts> links;  // instead of the cluster's own, at the file's rate
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
  Result<explain::CollectiveEstimate> operator()(const CollectiveQuestion& question);

 private:
  Result<machine::KnownComm> known_of(const CollectiveQuestion& question);
  Result<explain::CollectiveEstimate> on_links(const CollectiveQuestion& question);
  Result<explain::CollectiveEstimate> on_torus(const CollectiveQuestion& question);

  const describe::DataStore& data_;
  machine::CommModels models_;
  std::optional<describe::CommSpread> spread_;
  std::optional<describe::TorusFacts> torus_;
};

// Files of data/ that an estimate goes by beside the cluster's: "comm/links/nvlink4.toml".
std::vector<std::string> constant_files(const explain::CollectiveEstimate& estimate);
// Their constants, in the files' order.
Result<std::vector<explain::CollectiveConstant>> collective_constants(
    const explain::CollectiveEstimate& estimate, const describe::DataStore& data);

}  // namespace sextant::app
