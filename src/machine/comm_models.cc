#include "machine/comm_models.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity_text.h"

namespace sextant::machine {
namespace {

using describe::FabricFamily;
using describe::ScaleUp;

// Ethernet of more a device is not bought for sockets.
constexpr BytesPerSecond kFastestSockets = 12.5_GBps;

}  // namespace

describe::CommRegime KnownComm::regime(const cost::GroupShape& shape) const {
  using describe::CommRegime;
  if (shape.domains > 1) {
    if (network == "tcp" || network == "gloo") {
      return CommRegime::kSockets;
    }
    return shape.domains == 2 ? CommRegime::kTwoDomains : CommRegime::kManyDomains;
  }
  return one_host ? CommRegime::kOneHost : CommRegime::kOneDomain;
}

Result<void> CommModels::assume_links(const CommPlace& place,
                                      std::optional<describe::LinkFacts>& link, KnownComm& known) {
  SEXTANT_TRY(link, describe::assumed_link_facts(*place.device, place.scale_up, data_));
  const std::string_view word = describe::word_of<ScaleUp>(describe::kScaleUpWords, place.scale_up);
  if (!link) {
    return not_found(fmt::format("links of {} over {} are not known: the host's layout decides",
                                 place.device->id, word));
  }
  known.link = link->id;
  known.one_host = true;
  known.assumed_links = true;
  known.assumed.push_back(
      {"links", link->id,
       fmt::format("links of {} over {} were never measured here: messages may take a third or "
                   "three times as long; «calibrate» learns them from nccl-tests",
                   place.device->id, word),
       fmt::format("comm/links/{}.toml", link->id)});
  return {};
}

Result<void> CommModels::add_links(const CommPlace& place, std::optional<describe::LinkFacts>& link,
                                   KnownComm& known) {
  SEXTANT_TRY(link, describe::link_facts(*place.device, place.scale_up, data_));
  if (!link) {
    if (!place.inside) {
      return {};
    }
    return assume_links(place, link, known);
  }
  known.link = link->id;
  known.one_host = link->one_host;
  if (place.inside && place.scale_up_rate && *place.scale_up_rate != link->rate.value) {
    known.assumed.push_back({"links", link->id,
                             fmt::format("rates of {} at {} instead of {}", link->name,
                                         to_text(*place.scale_up_rate), to_text(link->rate.value)),
                             fmt::format("comm/links/{}.toml", link->id)});
  }
  if (place.inside && link->one_host) {
    known.assumed.push_back(
        {"links", link->id,
         fmt::format("a host laid out as the measured one ({}): another may differ widely",
                     link->name),
         fmt::format("comm/links/{}.toml", link->id)});
  }
  return {};
}

Result<KnownComm> CommModels::make(const CommPlace& place) {
  KnownComm known;
  std::optional<describe::LinkFacts> link;
  SEXTANT_CHECK_OK(add_links(place, link, known));
  std::optional<describe::NetworkFacts> network;
  if (place.across) {
    if (!place.nic_rate || *place.nic_rate <= BytesPerSecond()) {
      return not_found("rate of the network not stated");
    }
    if (place.gloo) {
      SEXTANT_TRY(network, describe::load_network_facts("gloo", data_));
    } else if (place.fabric) {
      SEXTANT_TRY(network, describe::network_facts(*place.fabric, *place.nic_rate, data_));
    }
    if (!network) {
      return not_found("kind of network not stated or never measured");
    }
    known.network = network->id;
  }
  const auto rate = link && link->one_host ? std::nullopt : place.scale_up_rate;
  known.rate_scale = link && rate ? *rate / link->rate.value : 1.0;
  known.model = cost::comm_model(link, rate, network, place.nic_rate);
  return known;
}

Result<const KnownComm*> CommModels::of(const CommPlace& place) {
  const double nic = place.nic_rate ? place.nic_rate->base() : 0.0;
  const std::string key =
      fmt::format("{} {} {} {} {} {} {}", place.device->id, static_cast<int>(place.scale_up),
                  place.fabric ? static_cast<int>(*place.fabric) : -1, nic, place.gloo,
                  place.inside, place.across);
  auto found = known_.find(key);
  if (found == known_.end()) {
    found = known_.emplace(key, make(place)).first;
  }
  if (!found->second) {
    return tl::unexpected<Error>(found->second.error());
  }
  return &*found->second;
}

Result<KnownComm> CommModels::of(const describe::Cluster& cluster) {
  CommPlace place;
  place.device = &cluster.device;
  place.scale_up = cluster.system.scale_up;
  if (cluster.device.scale_up_bandwidth) {
    place.scale_up_rate = cluster.device.scale_up_bandwidth->value;
  }
  place.fabric = cluster.fabric.family;
  place.nic_rate = cluster.network_per_device();
  const std::int64_t joined = reach_without_network(cluster);
  place.inside = joined > 1;
  place.across = cluster.devices > joined;
  const bool ethernet = place.fabric == FabricFamily::kEthernet;
  const bool fast = place.nic_rate && *place.nic_rate > kFastestSockets;
  const bool roce = ethernet && fast;
  const bool sockets = ethernet && !fast;
  if (roce) {
    place.fabric = FabricFamily::kRoce;
  }
  SEXTANT_TRY(const KnownComm* made, of(place));
  KnownComm known = *made;
  if (roce && place.across) {
    known.assumed.push_back(
        {"network", "roce", "Ethernet of more than 100 Gbit/s a device is not left to TCP", {}});
  }
  if (sockets && place.across && known.network == "tcp") {
    known.assumed.push_back({"network", "tcp",
                             "sockets, through the processors of the hosts; RDMA over the same "
                             "cables is roce-100",
                             "comm/networks/tcp.toml"});
  }
  return known;
}

Result<KnownComm> CommModels::between_slices(const describe::Cluster& cluster) {
  KnownComm known;
  if (cluster.slices > 1) {
    const auto rate = cluster.network_per_device();
    if (!rate) {
      return not_found("rate of the network between slices not known");
    }
    SEXTANT_TRY(const auto network, describe::network_facts(FabricFamily::kDcn, *rate, data_));
    known.network = network ? network->id : "";
    known.model = cost::comm_model(std::nullopt, std::nullopt, network, rate);
  }
  return known;
}

std::int64_t reach_without_network(const describe::Cluster& cluster) {
  const std::int64_t domain = std::max<std::int64_t>(1, cluster.system.domain_size.value);
  const bool is_stated =
      cluster.system.scale_up == ScaleUp::kNone || cluster.system.scale_up == ScaleUp::kNvSwitch;
  return is_stated ? domain : std::max(domain, cluster.devices_per_node());
}

std::int64_t placed_domain(const describe::Cluster& cluster) {
  const std::int64_t domain = reach_without_network(cluster);
  if (cluster.devices % domain == 0 || cluster.devices < domain) {
    return domain;
  }
  std::int64_t placed = 1;
  while (placed * 2 <= domain) {
    placed *= 2;
  }
  return placed;
}

}  // namespace sextant::machine
