// The communication models of places in clusters, made once each, with what they rest on or why
// there is none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cost/comm/comm_model.h"
#include "describe/assumption.h"
#include "describe/cluster/cluster.h"
#include "describe/comm_spread.h"
#include "describe/data_store.h"

namespace sextant::machine {

struct KnownComm {
  cost::CommModel model;
  std::string link;     // id of data/comm/links; "" where the group has no such links
  std::string network;  // id of data/comm/networks; ""
  bool one_host = false;
  bool assumed_links = false;  // nobody measured them: data/comm/links/assumed-*.toml
  double rate_scale = 1.0;     // the device's scale-up rate over that of the links' file
  describe::Assumptions assumed;
  // What its uncertainty goes by (data/comm/spread.toml).
  [[nodiscard]] describe::CommRegime regime(const cost::GroupShape& shape) const;
};

// What joins the ranks of a group.
struct CommPlace {
  const describe::Device* device = nullptr;
  describe::ScaleUp scale_up = describe::ScaleUp::kNone;
  std::optional<BytesPerSecond> scale_up_rate;
  std::optional<describe::FabricFamily> fabric;  // Ethernet: sockets of TCP
  std::optional<BytesPerSecond> nic_rate;
  bool gloo = false;
  bool inside = false;  // some ranks share a domain
  bool across = false;  // some do not
};

// Devices that reach each other without the network: a scale-up domain, and where scale-up links
// join only a part of a host (PCIe cards, bridges) the host. Behind switches the domain is what is
// stated, smaller than a node or larger.
std::int64_t reach_without_network(const describe::Cluster& cluster);

// Devices of a scale-up domain that a job fills: all of them where whole domains make up the
// cluster, else the largest power of two (64 of a rack of 72), so that groups do not straddle.
std::int64_t placed_domain(const describe::Cluster& cluster);

class CommModels {
 public:
  // `data` must outlive it.
  explicit CommModels(const describe::DataStore& data) : data_(data) {}

  // Files are read once a kind of place. Valid as long as this object.
  Result<const KnownComm*> of(const CommPlace& place);
  // Of a cluster's groups.
  Result<KnownComm> of(const describe::Cluster& cluster);
  // What joins the slices of a TPU cluster; nothing where there is one.
  Result<KnownComm> between_slices(const describe::Cluster& cluster);

 private:
  Result<KnownComm> make(const CommPlace& place);
  // REQUIRES: no links of the device are known.
  Result<void> assume_links(const CommPlace& place, std::optional<describe::LinkFacts>& link,
                            KnownComm& known);
  Result<void> add_links(const CommPlace& place, std::optional<describe::LinkFacts>& link,
                         KnownComm& known);

  const describe::DataStore& data_;
  std::map<std::string, Result<KnownComm>> known_;
};

}  // namespace sextant::machine
