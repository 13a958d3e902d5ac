// What collectives reached against what the communication model expects of the cluster they ran on
// (machine/collective_estimate.h): bus bandwidth, as nccl-tests counts it, by operation, size and
// place of the group.
//
// What a collective took is its transfer: the shortest that any of its ranks took, since who came
// last waited for nobody. What no second rank shows may hold waiting in each occurrence; there the
// shortest of all that are alike stands for it. A row falls short where half of its transfers or
// more take longer than the model's interval leaves open (nine of ten healthy systems lie in it).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/collective.h"
#include "base/result.h"
#include "base/units.h"
#include "describe/cluster/cluster.h"
#include "describe/data_store.h"
#include "diagnose/diagnosis.h"
#include "diagnose/scene.h"

namespace sextant::diagnose {

struct FabricInstance {
  std::uint32_t rank = 0;      // place in Summary::ranks
  std::uint32_t instance = 0;  // in RankSummary::instances
  std::int64_t transfer_ns = 0;
};

// Collectives of one operation and size over groups that lie alike.
struct FabricRow {
  CollectiveOp op = CollectiveOp::kAllReduce;
  std::int64_t ranks = 0;    // of a group; 2 of a message
  std::int64_t domains = 1;  // scale-up domains that a group spans
  Bytes bytes;               // as cost::CommLines counts them
  std::int64_t count = 0;    // of all ranks
  bool is_matched = false;   // several ranks show them
  Seconds transfer;          // median
  Seconds expected;
  double spread = 1.0;  // a factor: the interval's ends are expected / spread and expected · spread
  std::vector<FabricInstance> instances = {};

  [[nodiscard]] bool falls_short() const { return transfer > expected * spread; }
  [[nodiscard]] BytesPerSecond achieved_bus() const;
  [[nodiscard]] BytesPerSecond expected_bus() const;
  [[nodiscard]] BytesPerSecond least_bus() const;  // the interval's lower end
};

struct FabricView {
  std::string cluster;
  std::string device;           // of the cluster
  std::vector<FabricRow> rows;  // the longest in all first
  std::int64_t left_out = 0;    // collectives of which too little is known
  std::string reason = {};      // why the first of these
};

// Sizes beyond are left out: a file may say what it likes.
inline constexpr std::size_t kMostFabricRows = 4096;

// An Error where the cluster's data files are wrong; what has no model is left out.
Result<FabricView> fabric_view(const Scene& scene, const describe::Cluster& cluster,
                               const describe::DataStore& data);

// slow-collective, of rows that fall short: what of them stands alone on a rank beyond what the
// model expects.
Findings fabric_findings(const Scene& scene, const FabricView& fabric);

// What to give so that it can be asked; nothing where no collective with a size was recorded on a
// device, or another family of rules already speaks of slow collectives.
void abstain_without_fabric(const Scene& scene, const std::vector<Finding>& found,
                            std::vector<Abstention>& abstained);

}  // namespace sextant::diagnose
