// What the cost of a collective depends on beside the message: the constants of the links and of
// the network, as plain numbers, and the group's place on them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/units.h"
#include "describe/comm_facts.h"

namespace sextant::cost {

// A group of ranks as links see it.
struct GroupShape {
  std::int64_t ranks = 1;
  std::int64_t domains = 1;     // scale-up domains it lies in
  std::int64_t per_domain = 1;  // its ranks in the fullest of them
  // Groups that use the same NICs at the same time, this one included; each gets an equal part.
  std::int64_t sharing = 1;
  bool operator==(const GroupShape&) const = default;
};

// Constants of one kind of hardware. Values are SI: seconds, bytes a second, ratios.
struct CommModel {
  std::array<double, describe::kLinkKeys.size()> link{};
  std::array<double, describe::kNetworkKeys.size()> network{};
  double nic_rate = 0.0;     // bytes a second of one device and direction
  double added_delay = 0.0;  // a longer way between domains than the constants', one way, seconds

  [[nodiscard]] double operator[](describe::LinkKey key) const {
    return link[static_cast<std::size_t>(key)];
  }
  [[nodiscard]] double operator[](describe::NetworkKey key) const {
    return network[static_cast<std::size_t>(key)];
  }
  bool operator==(const CommModel&) const = default;
};

// `link` speaks of devices with `link.rate`; one with another rate gets rates in proportion.
// Without links (one device a domain) or without a network (one domain) that part stays empty:
// groups that need it must not be asked about.
CommModel comm_model(const std::optional<describe::LinkFacts>& link,
                     std::optional<BytesPerSecond> scale_up_rate,
                     const std::optional<describe::NetworkFacts>& network,
                     std::optional<BytesPerSecond> nic_rate);

}  // namespace sextant::cost
