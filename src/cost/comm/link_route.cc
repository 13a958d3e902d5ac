#include "cost/comm/link_route.h"

#include "base/integers.h"

namespace sextant::cost {
namespace {

// How many links of each class, one direction.
PerLink<std::int64_t> link_counts(const FatTree& tree) {
  return {.scale_up = tree.hosts * tree.devices_per_host,
          .nic = tree.hosts,
          .uplink = (tree.hosts + tree.hosts_per_leaf - 1) / tree.hosts_per_leaf};
}

PerLink<std::int64_t> link_counts(const Rails& rails) {
  return {.scale_up = rails.hosts * rails.rails,
          .nic = rails.hosts * rails.rails,
          .uplink = rails.rails};
}

void cross(LinkRoute& path, LinkClass kind, std::int64_t from, std::int64_t to) {
  path.links[path.count++] = {kind, LinkDirection::kOut, from};
  path.links[path.count++] = {kind, LinkDirection::kIn, to};
}

LinkRoute wired_route(const FatTree& tree, std::int64_t from, std::int64_t to) {
  const std::int64_t host = from / tree.devices_per_host;
  const std::int64_t to_host = to / tree.devices_per_host;
  LinkRoute path;
  if (host == to_host) {
    cross(path, LinkClass::kScaleUp, from, to);
    return path;
  }
  cross(path, LinkClass::kNic, host, to_host);
  if (host / tree.hosts_per_leaf != to_host / tree.hosts_per_leaf) {
    cross(path, LinkClass::kUplink, host / tree.hosts_per_leaf, to_host / tree.hosts_per_leaf);
  }
  return path;
}

LinkRoute wired_route(const Rails& rails, std::int64_t from, std::int64_t to) {
  const std::int64_t host = from / rails.rails;
  const std::int64_t rail = from % rails.rails;
  const std::int64_t to_rail = to % rails.rails;
  LinkRoute path;
  if (host == to / rails.rails) {
    cross(path, LinkClass::kScaleUp, from, to);
  } else if (rail == to_rail) {
    cross(path, LinkClass::kNic, from, to);
  } else if (rails.pxn) {
    const std::int64_t relay = host * rails.rails + to_rail;
    cross(path, LinkClass::kScaleUp, from, relay);
    cross(path, LinkClass::kNic, relay, to);
  } else {
    cross(path, LinkClass::kNic, from, to);
    cross(path, LinkClass::kUplink, rail, to_rail);
  }
  return path;
}

void add_both_ways(LinkLoads& loads, LinkClass kind, std::int64_t index, Bytes bytes) {
  loads.add({kind, LinkDirection::kOut, index}, bytes);
  loads.add({kind, LinkDirection::kIn, index}, bytes);
}

// How many ranks share each value of `key(rank)`, 0 ≤ key < keys.
template <typename Key>
std::vector<std::int64_t> counted(std::span<const std::int64_t> ranks, std::int64_t keys,
                                  const Key& key) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(keys), 0);
  for (const std::int64_t rank : ranks) {
    ++counts[static_cast<std::size_t>(key(rank))];
  }
  return counts;
}

// Pairs are counted, not listed: a member sends one message to each member outside its host, and
// as many come in.
void add_all_to_all(LinkLoads& loads, const FatTree& tree, std::span<const std::int64_t> ranks,
                    Bytes message) {
  const auto host_of = [&](std::int64_t rank) { return rank / tree.devices_per_host; };
  const auto leaf_of = [&](std::int64_t rank) { return host_of(rank) / tree.hosts_per_leaf; };
  const PerLink<std::int64_t> links = link_counts(tree);
  const std::vector<std::int64_t> on_host = counted(ranks, links.nic, host_of);
  const std::vector<std::int64_t> on_leaf = counted(ranks, links.uplink, leaf_of);
  const auto n = static_cast<std::int64_t>(ranks.size());
  for (const std::int64_t rank : ranks) {
    const std::int64_t here = on_host[static_cast<std::size_t>(host_of(rank))];
    const std::int64_t below = on_leaf[static_cast<std::size_t>(leaf_of(rank))];
    add_both_ways(loads, LinkClass::kScaleUp, rank, as_double(here - 1) * message);
    add_both_ways(loads, LinkClass::kNic, host_of(rank), as_double(n - here) * message);
    add_both_ways(loads, LinkClass::kUplink, leaf_of(rank), as_double(n - below) * message);
  }
}

// What passes one device as a relay: all that its host's members send to its rail.
struct Relay {
  std::int64_t device = 0;
  std::int64_t senders = 0;    // members on its host
  std::int64_t receivers = 0;  // members on its rail
  std::int64_t itself = 0;     // 1 where it is a member
};

void add_relay(LinkLoads& loads, const Relay& relay, Bytes message) {
  const std::int64_t others = relay.senders - relay.itself;
  loads.add({LinkClass::kScaleUp, LinkDirection::kIn, relay.device},
            as_double(others * relay.receivers) * message);
  loads.add({LinkClass::kNic, LinkDirection::kOut, relay.device},
            as_double(relay.senders * (relay.receivers - relay.itself)) * message);
}

void add_all_to_all(LinkLoads& loads, const Rails& rails, std::span<const std::int64_t> ranks,
                    Bytes message) {
  const auto host_of = [&](std::int64_t rank) { return rank / rails.rails; };
  const auto rail_of = [&](std::int64_t rank) { return rank % rails.rails; };
  const std::vector<std::int64_t> on_host = counted(ranks, rails.hosts, host_of);
  const std::vector<std::int64_t> on_rail = counted(ranks, rails.rails, rail_of);
  const auto n = static_cast<std::int64_t>(ranks.size());
  std::vector<std::int64_t> is_member(static_cast<std::size_t>(rails.hosts * rails.rails), 0);
  for (const std::int64_t rank : ranks) {
    is_member[static_cast<std::size_t>(rank)] = 1;
    const std::int64_t here = on_host[static_cast<std::size_t>(host_of(rank))];
    const std::int64_t along = on_rail[static_cast<std::size_t>(rail_of(rank))];
    if (rails.pxn) {
      const NetworkLink out{LinkClass::kScaleUp, LinkDirection::kOut, rank};
      loads.add(out, as_double(n - along) * message);
      loads.add({LinkClass::kNic, LinkDirection::kIn, rank}, as_double(n - here) * message);
    } else {
      add_both_ways(loads, LinkClass::kScaleUp, rank, as_double(here - 1) * message);
      add_both_ways(loads, LinkClass::kNic, rank, as_double(n - here) * message);
      add_both_ways(loads, LinkClass::kUplink, rail_of(rank),
                    as_double(n - here - along + 1) * message);
    }
  }
  for (std::int64_t device = 0; rails.pxn && device < rails.hosts * rails.rails; ++device) {
    add_relay(loads,
              {.device = device,
               .senders = on_host[static_cast<std::size_t>(host_of(device))],
               .receivers = on_rail[static_cast<std::size_t>(rail_of(device))],
               .itself = is_member[static_cast<std::size_t>(device)]},
              message);
  }
}

}  // namespace

LinkRoute link_route(const NetworkShape& network, std::int64_t from, std::int64_t to) {
  return std::visit([&](const auto& wiring) { return wired_route(wiring, from, to); },
                    network.wiring);
}

LinkLoads::LinkLoads(const NetworkShape& network) {
  const PerLink<std::int64_t> counts =
      std::visit([](const auto& wiring) { return link_counts(wiring); }, network.wiring);
  for (const LinkClass kind : {LinkClass::kScaleUp, LinkClass::kNic, LinkClass::kUplink}) {
    for (const LinkDirection direction : {LinkDirection::kOut, LinkDirection::kIn}) {
      loads_[slot(kind, direction)].resize(static_cast<std::size_t>(of_class(counts, kind)));
    }
  }
}

void add_all_pairs(LinkLoads& loads, const NetworkShape& network,
                   std::span<const std::int64_t> ranks, Bytes message) {
  std::visit([&](const auto& wiring) { add_all_to_all(loads, wiring, ranks, message); },
             network.wiring);
}

}  // namespace sextant::cost
