#include "cost/comm/collective_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::cost {
namespace {

using describe::CollectiveOp;
using describe::LinkKey;
using describe::NetworkKey;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

double seconds_of(const CommLine& line, double bytes) {
  const double transfer = bytes * line.per_byte;
  return line.latency + transfer + line.fill * std::sqrt(line.latency * transfer);
}

// Between the rates measured with 2, 4 and 8 ranks: straight in the logarithm of the ranks.
double rate_at(const CommModel& model, LinkKey two, std::int64_t ranks) {
  const auto first = static_cast<std::size_t>(two);
  if (ranks >= 8) {
    return model.link[first + 2];
  }
  if (ranks <= 2) {
    return model.link[first];
  }
  const double place = std::log2(static_cast<double>(ranks));
  return place < 2.0 ? std::lerp(model.link[first], model.link[first + 1], place - 1.0)
                     : std::lerp(model.link[first + 1], model.link[first + 2], place - 2.0);
}

LinkKey rates_key(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::kAllReduce:
      return LinkKey::kAllReduce2;
    case CollectiveOp::kReduceScatter:
      return LinkKey::kReduceScatter2;
    case CollectiveOp::kAllToAll:
      return LinkKey::kAllToAll2;
    case CollectiveOp::kAllGather:
    case CollectiveOp::kSendReceive:
    case CollectiveOp::kBroadcast:
      break;
  }
  return LinkKey::kAllGather2;
}

// Sizes that every way of one collective shares.
struct Scene {
  const CommModel& model;
  CollectiveOp op;
  double ranks = 1.0;
  double domains = 1.0;
  double per_domain = 1.0;
  double volume = 1.0;   // on the bus, a byte of payload
  double steps = 0.0;    // of a ring
  double across = 0.0;   // of those, between domains
  double inside = 0.0;   // rate of the links inside
  double network = 0.0;  // rate of the NICs a domain's ranks have together
  double delay = 0.0;    // of a step between domains, beside the constants
};

// What the NICs of a domain give one group.
double network_rate(const CommModel& model, const GroupShape& group) {
  const auto devices = static_cast<double>(group.per_domain);
  double rate = model.nic_rate * std::min(devices, model[NetworkKey::kMostRails]);
  if (group.per_domain == 1) {
    rate *= model[NetworkKey::kLoneShare];
  }
  if (model[NetworkKey::kMostHost] > 0.0) {
    rate = std::min(rate, model[NetworkKey::kMostHost]);
  }
  return rate / static_cast<double>(group.sharing);
}

Scene scene_of(CollectiveOp op, const GroupShape& group, const CommModel& model) {
  Scene scene{model, op};
  scene.ranks = static_cast<double>(group.ranks);
  scene.domains = static_cast<double>(group.domains);
  scene.per_domain = static_cast<double>(group.per_domain);
  const double rounds = op == CollectiveOp::kAllReduce ? 2.0 : 1.0;
  scene.volume = describe::bus_share(op, group.ranks);
  scene.steps = rounds * (scene.ranks - 1.0);
  scene.across = rounds * (scene.domains - 1.0);
  scene.inside =
      group.per_domain > 1 ? rate_at(model, rates_key(op), group.per_domain) : kUnlimited;
  scene.network = group.domains > 1 ? network_rate(model, group) : kUnlimited;
  scene.delay = model.added_delay;
  return scene;
}

// A share of a rate; what has no limit keeps none.
double part(double rate, double share) {
  return std::isinf(rate) ? rate : rate * share;
}

// The slower of two rates, and whose it is.
CommLine at_rate(double volume, double inside, double network) {
  CommLine line;
  line.limit = network < inside ? CommLink::kNetwork : CommLink::kScaleUp;
  line.per_byte = volume / std::min(inside, network);
  return line;
}

double share_if_shared(const Scene& scene, NetworkKey key) {
  // A lone device's share is in its rate already.
  return scene.per_domain > 1.0 ? scene.model[key] : 1.0;
}

double fill_of(const Scene& scene, LinkKey inside, NetworkKey across) {
  return scene.domains > 1.0 ? scene.model[across] : scene.model[inside];
}

CommLine ring(const Scene& scene, CommProtocol protocol) {
  const CommModel& m = scene.model;
  const bool low = protocol == CommProtocol::kLowLatency;
  CommLine line =
      low ? at_rate(scene.volume, part(scene.inside, m[LinkKey::kLlShare]),
                    part(scene.network, m[NetworkKey::kLlShare]))
          : at_rate(scene.volume, scene.inside,
                    part(scene.network, share_if_shared(scene, NetworkKey::kRingShare)));
  line.algorithm = CommAlgorithm::kRing;
  line.protocol = protocol;
  line.latency = m[low ? LinkKey::kLlBase : LinkKey::kBase] +
                 (scene.steps - scene.across) * m[low ? LinkKey::kLlHop : LinkKey::kHop] +
                 scene.across * (m[low ? NetworkKey::kLlHop : NetworkKey::kHop] + scene.delay);
  line.fill = low ? 0.0 : fill_of(scene, LinkKey::kFill, NetworkKey::kFill);
  return line;
}

// A tree uses the switch where a domain has so many of the group's ranks; with fewer the library's
// trees follow the links (the measured groups have 4 and 8 a host, or 1).
constexpr double kLeastSwitched = 4.0;
// Ranks of a domain that a tree's chain passes: hosts of eight, whatever joins them.
constexpr double kMostChain = 8.0;

// What a tree moves inside a domain: the switch's rate where it has one, else the links'.
double tree_inside(const Scene& scene) {
  const CommModel& m = scene.model;
  const bool switched = m[LinkKey::kTreeGain] > 0.0 && m[LinkKey::kSwitchRate] > 0.0 &&
                        scene.per_domain >= kLeastSwitched;
  return switched ? scene.volume * m[LinkKey::kSwitchRate] : scene.inside;
}

// All-reduce between domains: a chain inside, a tree across.
CommLine tree_across(const Scene& scene, CommProtocol protocol) {
  const CommModel& m = scene.model;
  const bool low = protocol == CommProtocol::kLowLatency;
  // Each domain sends the buffer up and down once: half a ring's volume between two domains, the
  // same between many.
  const bool gains = m[LinkKey::kTreeGain] > 0.0 && scene.per_domain > 1.0;
  const double gain = gains ? scene.volume / 2.0 * scene.domains / (scene.domains - 1.0) : 1.0;
  const double inside = tree_inside(scene);
  CommLine line =
      low ? at_rate(scene.volume, part(inside, m[LinkKey::kLlShare]),
                    scene.network * m[NetworkKey::kLlShare])
          : at_rate(scene.volume, inside,
                    scene.network * share_if_shared(scene, NetworkKey::kTreeShare) * gain);
  line.algorithm = CommAlgorithm::kTree;
  line.protocol = protocol;
  const double chain = 2.0 * (std::min(scene.per_domain, kMostChain) - 1.0);
  line.latency = m[low ? LinkKey::kLlBase : LinkKey::kBase] +
                 chain * m[low ? LinkKey::kLlHop : LinkKey::kHop] +
                 2.0 * std::log2(scene.domains) *
                     (m[low ? NetworkKey::kLlHop : NetworkKey::kHop] + scene.delay);
  line.fill = low ? 0.0 : m[NetworkKey::kFill];
  return line;
}

CommLine tree_inside_domain(const Scene& scene) {
  const CommModel& m = scene.model;
  CommLine line = at_rate(scene.volume, scene.inside * m[LinkKey::kLlShare], kUnlimited);
  line.algorithm = CommAlgorithm::kTree;
  line.protocol = CommProtocol::kLowLatency;
  line.latency = m[LinkKey::kTreeBase] + std::log2(scene.ranks) * m[LinkKey::kTreeHop];
  return line;
}

CommLine in_switch(const Scene& scene) {
  const CommModel& m = scene.model;
  CommLine line;
  line.algorithm = CommAlgorithm::kSwitch;
  line.latency = m[LinkKey::kSwitchLatency];
  line.per_byte = 1.0 / m[LinkKey::kSwitchRate];
  line.fill = m[LinkKey::kSwitchFill];
  return line;
}

// The network's switches reduce: every domain sends the buffer once and gets it once.
CommLine in_network(const Scene& scene) {
  const CommModel& m = scene.model;
  CommLine line =
      at_rate(1.0, tree_inside(scene) / scene.volume, scene.network * m[NetworkKey::kReducing]);
  line.algorithm = CommAlgorithm::kCollnet;
  line.latency = m[LinkKey::kBase] +
                 2.0 * (std::min(scene.per_domain, kMostChain) - 1.0) * m[LinkKey::kHop] +
                 2.0 * (m[NetworkKey::kHop] + scene.delay);
  line.fill = m[NetworkKey::kFill];
  return line;
}

// Seconds a byte of payload that peers exchange directly: inside the domain and between domains at
// the same time.
CommLine exchange_rates(const Scene& scene, const GroupShape& group) {
  const CommModel& m = scene.model;
  const bool message = scene.op == CollectiveOp::kSendReceive;
  const double near = message ? 1.0 : (scene.per_domain - 1.0) / scene.ranks;
  const double far = message ? 1.0 : (scene.ranks - scene.per_domain) / scene.ranks;
  const double share = m[message ? NetworkKey::kMessageShare : NetworkKey::kExchangeShare];
  double nic = m.nic_rate * share / static_cast<double>(group.sharing);
  if (m[NetworkKey::kMostHost] > 0.0) {
    nic = std::min(nic, m[NetworkKey::kMostHost] / scene.per_domain);
  }
  const double inside = group.domains > 1 && message ? 0.0 : near / scene.inside;
  const double across = group.domains > 1 ? far / nic : 0.0;
  CommLine line;
  line.algorithm = CommAlgorithm::kExchange;
  line.limit = across > inside ? CommLink::kNetwork : CommLink::kScaleUp;
  line.per_byte = std::max(inside, across);
  return line;
}

void add_exchange(const Scene& scene, const GroupShape& group, CommLines& lines) {
  const CommModel& m = scene.model;
  const bool many = group.domains > 1;
  const double peers = scene.op == CollectiveOp::kSendReceive ? 0.0 : scene.ranks - 1.0;
  CommLine line = exchange_rates(scene, group);
  const double hops = peers * m[LinkKey::kExchangeHop];
  const double net = many ? m[NetworkKey::kLlHop] + scene.delay : 0.0;
  CommLine low = line;
  low.protocol = CommProtocol::kLowLatency;
  low.latency = m[LinkKey::kExchangeLlBase] + hops + net;
  low.per_byte /= many ? m[NetworkKey::kLlShare] : m[LinkKey::kLlShare];
  line.latency = m[LinkKey::kExchangeBase] + hops + net;
  line.fill = fill_of(scene, LinkKey::kExchangeFill, NetworkKey::kExchangeFill);
  lines.add(low);
  lines.add(line);
}

void add_all_reduce(const Scene& scene, const GroupShape& group, CommLines& lines) {
  const CommModel& m = scene.model;
  if (group.domains > 1) {
    lines.add(tree_across(scene, CommProtocol::kLowLatency));
    lines.add(tree_across(scene, CommProtocol::kBulk));
    if (m[NetworkKey::kReducing] > 0.0) {
      lines.add(in_network(scene));
    }
    return;
  }
  lines.add(tree_inside_domain(scene));
  if (m[LinkKey::kSwitchRate] > 0.0 && scene.ranks >= m[LinkKey::kSwitchRanks]) {
    lines.add(in_switch(scene));
  }
}

}  // namespace

CommTerms terms_of(const CommLine& line, Bytes bytes) {
  const double transfer = bytes.base() * line.per_byte;
  return {line.algorithm,    line.protocol,
          line.limit,        Seconds(line.latency),
          Seconds(transfer), Seconds(line.fill * std::sqrt(line.latency * transfer))};
}

void CommLines::add(const CommLine& line) {
  lines_[static_cast<std::size_t>(count_)] = line;
  ++count_;
}

void CommLines::keep(CommAlgorithm algorithm) {
  CommLines kept;
  for (int i = 0; i < count_; ++i) {
    if (line(i).algorithm == algorithm) {
      kept.add(line(i));
    }
  }
  if (kept.count_ > 0) {
    *this = kept;
  }
}

void CommLines::drop(CommAlgorithm algorithm) {
  CommLines kept;
  for (int i = 0; i < count_; ++i) {
    if (line(i).algorithm != algorithm) {
      kept.add(line(i));
    }
  }
  *this = kept;
}

Seconds CommLines::time(Bytes bytes) const {
  if (count_ == 0) {
    return {};
  }
  double least = kUnlimited;
  for (int i = 0; i < count_; ++i) {
    least = std::min(least, seconds_of(line(i), bytes.base()));
  }
  return Seconds(least);
}

CommTerms CommLines::best(Bytes bytes) const {
  const CommLine* best = nullptr;
  double least = kUnlimited;
  for (int i = 0; i < count_; ++i) {
    const double seconds = seconds_of(line(i), bytes.base());
    if (seconds < least) {
      least = seconds;
      best = &line(i);
    }
  }
  return best != nullptr ? terms_of(*best, bytes) : CommTerms();
}

CommLines comm_lines(CollectiveOp op, const GroupShape& group, const CommModel& model) {
  CommLines lines;
  if (group.ranks <= 1) {
    return lines;
  }
  const Scene scene = scene_of(op, group, model);
  if (op == CollectiveOp::kAllToAll || op == CollectiveOp::kSendReceive) {
    add_exchange(scene, group, lines);
    return lines;
  }
  lines.add(ring(scene, CommProtocol::kLowLatency));
  lines.add(ring(scene, CommProtocol::kBulk));
  if (op == CollectiveOp::kAllReduce) {
    add_all_reduce(scene, group, lines);
  }
  return lines;
}

Seconds collective_time(CollectiveOp op, Bytes bytes, const GroupShape& group,
                        const CommModel& model) {
  return comm_lines(op, group, model).time(bytes);
}

BytesPerSecond bus_bandwidth(CollectiveOp op, Bytes bytes, std::int64_t ranks, Seconds time) {
  return bytes * describe::bus_share(op, ranks) / time;
}

HierarchicalTerms hierarchical_all_reduce(Bytes bytes, const GroupShape& group,
                                          const CommModel& model) {
  const GroupShape inside{group.per_domain, 1, group.per_domain, 1};
  const GroupShape across{group.domains, group.domains, 1, group.sharing};
  const Bytes shard = bytes / static_cast<double>(group.per_domain);
  return {collective_time(CollectiveOp::kReduceScatter, bytes, inside, model),
          collective_time(CollectiveOp::kAllReduce, shard, across, model),
          collective_time(CollectiveOp::kAllGather, bytes, inside, model)};
}

}  // namespace sextant::cost
