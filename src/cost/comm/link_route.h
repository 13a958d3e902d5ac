// The wirings of a contended network: which links it has, which of them a flow from one device to
// another crosses, and what all pairs of a group put on them.
//
// Routes are fixed: one spine, or spines between which the traffic is shared perfectly. Links
// inside a host are those of a switch: a rate for each device and direction, no shared core behind
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/units.h"

namespace sextant::cost {

// Hosts below leaf switches, leaves below a spine. Devices of a host share its network interface.
// An uplink rate below hosts_per_leaf · nic is oversubscribed.
struct FatTree {
  std::int64_t hosts = 1;
  std::int64_t devices_per_host = 1;
  std::int64_t hosts_per_leaf = 1;
  bool operator==(const FatTree&) const = default;
};

// Device r of every host has a NIC of its own on rail switch r; the rail switches meet at a spine.
// PXN: what goes to another rail first crosses the sender's host over the scale-up links to the
// device of the receiver's rail (member of the group or not), and leaves from there. Without, it
// crosses the spine.
struct Rails {
  std::int64_t hosts = 1;
  std::int64_t rails = 1;  // devices of a host
  bool pxn = true;
  bool operator==(const Rails&) const = default;
};

// One value for each class of links; rates and loads are per direction.
template <typename T>
struct PerLink {
  T scale_up{};  // a device's, to the other devices of its host
  T nic{};       // a host's (FatTree) or a device's (Rails), to its first switch
  T uplink{};    // a leaf's or a rail switch's, to the spine: all its cables together
  bool operator==(const PerLink&) const = default;
};

struct NetworkShape {
  std::variant<FatTree, Rails> wiring;
  PerLink<BytesPerSecond> rate;  // > 0 on every class that is used
  PerLink<Seconds> latency;      // to cross one link
};

enum class LinkClass : std::uint8_t { kScaleUp, kNic, kUplink };
enum class LinkDirection : std::uint8_t { kOut, kIn };  // away from the devices, towards them

struct NetworkLink {
  LinkClass kind = LinkClass::kScaleUp;
  LinkDirection direction = LinkDirection::kOut;
  std::int64_t index = 0;  // device, host (a fat tree's NIC) or switch
  bool operator==(const NetworkLink&) const = default;
};

// The links from one device to another, in order; never more than four.
struct LinkRoute {
  std::array<NetworkLink, 4> links;
  std::size_t count = 0;
  [[nodiscard]] std::span<const NetworkLink> crossed() const {
    return std::span(links).first(count);
  }
};
// REQUIRES: from ≠ to, the network has both.
LinkRoute link_route(const NetworkShape& network, std::int64_t from, std::int64_t to);

// What the class of a link has.
template <typename T>
constexpr T of_class(const PerLink<T>& values, LinkClass kind) {
  switch (kind) {
    case LinkClass::kScaleUp:
      return values.scale_up;
    case LinkClass::kNic:
      return values.nic;
    case LinkClass::kUplink:
      return values.uplink;
  }
  return {};
}

// Bytes on every link, by class and direction.
class LinkLoads {
 public:
  explicit LinkLoads(const NetworkShape& network);
  // REQUIRES: the network has the link.
  [[nodiscard]] Bytes at(const NetworkLink& link) const {
    return of(link.kind, link.direction)[place(link)];
  }
  // All links of a class in one direction, by index.
  [[nodiscard]] std::span<const Bytes> of(LinkClass kind, LinkDirection direction) const {
    return loads_[slot(kind, direction)];
  }
  void add(const NetworkLink& link, Bytes bytes) {
    loads_[slot(link.kind, link.direction)][place(link)] += bytes;
  }

 private:
  static std::size_t slot(LinkClass kind, LinkDirection direction) {
    return static_cast<std::size_t>(kind) * 2 + static_cast<std::size_t>(direction);
  }
  static std::size_t place(const NetworkLink& link) { return static_cast<std::size_t>(link.index); }
  std::array<std::vector<Bytes>, 6> loads_;
};

// Adds `message` for every ordered pair of the ranks. Pairs are counted, not listed: O(ranks), over
// rails with PXN O(devices of the network). REQUIRES: the ranks differ, the network has them.
void add_all_pairs(LinkLoads& loads, const NetworkShape& network,
                   std::span<const std::int64_t> ranks, Bytes message);

}  // namespace sextant::cost
