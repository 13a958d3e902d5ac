#include "simgrid_network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include <simgrid/s4u.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant {
namespace {

using cost::FlowPattern;
using cost::GroupTraffic;
using simgrid::s4u::Comm;
using simgrid::s4u::CommPtr;
using simgrid::s4u::Engine;
using simgrid::s4u::Host;
using simgrid::s4u::LinkInRoute;
using simgrid::s4u::NetZone;

// Plain max-min fair sharing, nothing of TCP:
//   model CM02          flows as fluids that share links by max-min fairness. (The default, LV08,
//                       takes 3 % of bandwidth away and stretches latencies 13-fold.) A flow's
//                       weight is 1 / latency of its path, so paths have equal latencies or none.
//   bandwidth-factor 1  all of a link's rate is for the payload
//   latency-factor 1    a path's latency is the sum of its links'
//   weight-S 0          a link's rate does not count as latency in that weight
//   crosstraffic 0      no acknowledgements on the way back
//   TCP-gamma 0         no window: a flow is not limited to window / round trip
constexpr std::array kArguments{"simgrid_test",
                                "--cfg=network/model:CM02",
                                "--cfg=network/bandwidth-factor:1",
                                "--cfg=network/latency-factor:1",
                                "--cfg=network/weight-S:0",
                                "--cfg=network/crosstraffic:0",
                                "--cfg=network/TCP-gamma:0",
                                "--log=root.thresh:warning"};

// Devices and links by name, and the route of every pair.
class Fabric {
 public:
  explicit Fabric(const cost::NetworkShape& shape)
      : shape_(shape), zone_(simgrid::s4u::create_full_zone("fabric")) {
    std::visit([&](const auto& wiring) { connect(wiring); }, shape.wiring);
    zone_->seal();
  }
  [[nodiscard]] Host* device(std::int64_t rank) const {
    return devices_[static_cast<std::size_t>(rank)];
  }

 private:
  using Names = std::vector<std::string>;

  void connect(const cost::FatTree& tree) {
    const auto names = [&](std::int64_t from, std::int64_t to) -> Names {
      const auto host = std::to_string(from / tree.devices_per_host);
      const auto peer = std::to_string(to / tree.devices_per_host);
      const auto leaf = std::to_string(from / (tree.devices_per_host * tree.hosts_per_leaf));
      const auto peer_leaf = std::to_string(to / (tree.devices_per_host * tree.hosts_per_leaf));
      if (host == peer) {
        return {"scale_up > " + std::to_string(from), "scale_up < " + std::to_string(to)};
      }
      if (leaf == peer_leaf) {
        return {"nic > " + host, "nic < " + peer};
      }
      return {"nic > " + host, "uplink > " + leaf, "uplink < " + peer_leaf, "nic < " + peer};
    };
    connect_all(tree.hosts * tree.devices_per_host, names);
  }

  void connect(const cost::Rails& rails) {
    const auto names = [&](std::int64_t from, std::int64_t to) -> Names {
      const auto rail = from % rails.rails;
      const auto peer_rail = to % rails.rails;
      const auto neighbour = std::to_string(from - rail + peer_rail);
      const auto source = std::to_string(from);
      const auto target = std::to_string(to);
      if (neighbour == target) {
        return {"scale_up > " + source, "scale_up < " + target};
      }
      if (rail == peer_rail) {
        return {"nic > " + source, "nic < " + target};
      }
      if (rails.pxn) {
        return {"scale_up > " + source, "scale_up < " + neighbour, "nic > " + neighbour,
                "nic < " + target};
      }
      return {"nic > " + source, "uplink > " + std::to_string(rail),
              "uplink < " + std::to_string(peer_rail), "nic < " + target};
    };
    connect_all(rails.hosts * rails.rails, names);
  }

  template <typename LinkNames>
  void connect_all(std::int64_t count, const LinkNames& names) {
    for (std::int64_t i = 0; i < count; ++i) {
      devices_.push_back(zone_->create_host("device " + std::to_string(i), 1.0));
    }
    for (std::int64_t pair = 0; pair < count * count; ++pair) {
      const std::int64_t from = pair / count;
      const std::int64_t to = pair % count;
      if (from != to) {
        add_route(from, to, names(from, to));
      }
    }
  }

  void add_route(std::int64_t from, std::int64_t to, const Names& names) {
    std::vector<LinkInRoute> links;
    for (const std::string& name : names) {
      links.emplace_back(link(name));
    }
    zone_->add_route(device(from)->get_netpoint(), device(to)->get_netpoint(), nullptr, nullptr,
                     links, false);
  }

  simgrid::s4u::Link* link(const std::string& name) {
    simgrid::s4u::Link*& known = links_[name];
    if (known == nullptr) {
      const bool up = name.starts_with("uplink");
      const bool nic = name.starts_with("nic");
      const auto chosen = [&](const auto& values) {
        return (up ? values.uplink : nic ? values.nic : values.scale_up).base();
      };
      known = zone_->create_link(name, chosen(shape_.rate))
                  ->set_latency(chosen(shape_.latency))
                  ->seal();
    }
    return known;
  }

  cost::NetworkShape shape_;
  NetZone* zone_;
  std::vector<Host*> devices_;
  std::map<std::string, simgrid::s4u::Link*> links_;
};

// The flows of one group; each starts when those it comes after have ended.
class Flows {
 public:
  Flows(const Fabric& fabric, const GroupTraffic& group) : fabric_(fabric), group_(group) {}

  [[nodiscard]] std::size_t size() const { return group_.ranks.size(); }
  CommPtr send(std::size_t from, std::size_t to, Bytes bytes, const std::vector<CommPtr>& after) {
    const CommPtr flow =
        Comm::sendto_init(fabric_.device(group_.ranks[from]), fabric_.device(group_.ranks[to]));
    flow->set_payload_size(static_cast<std::uint64_t>(std::llround(bytes.base())));
    for (const CommPtr& earlier : after) {
      if (earlier != nullptr) {
        earlier->add_successor(flow);
      }
    }
    all_.push_back(flow);
    return flow;
  }
  void start() const {
    for (const CommPtr& flow : all_) {
      flow->vetoable_start();
    }
  }
  [[nodiscard]] double end() const {
    double last = 0;
    for (const CommPtr& flow : all_) {
      last = std::max(last, flow->get_finish_time());
    }
    return last;
  }

 private:
  const Fabric& fabric_;
  const GroupTraffic& group_;
  std::vector<CommPtr> all_;
};

// In each step every rank passes on the part that came in the step before, after its own last send.
void add_ring(Flows& flows, Bytes part, std::size_t steps) {
  const std::size_t n = flows.size();
  std::vector<CommPtr> before(n);
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<CommPtr> now(n);
    for (std::size_t i = 0; i < n; ++i) {
      now[i] = flows.send(i, (i + 1) % n, part, {before[i], before[(i + n - 1) % n]});
    }
    before = now;
  }
}

struct Tree {
  std::vector<std::vector<std::size_t>> children;
  std::size_t root = 0;
};

Tree binary_tree(std::size_t size, bool second) {
  Tree tree{.children = std::vector<std::vector<std::size_t>>(size)};
  for (std::size_t i = 0; i < size; ++i) {
    const auto parent =
        cost::tree_parent(static_cast<std::int64_t>(i), static_cast<std::int64_t>(size), second);
    if (parent) {
      tree.children[static_cast<std::size_t>(*parent)].push_back(i);
    } else {
      tree.root = i;
    }
  }
  return tree;
}

// One piece on its way through a tree: up once all children's have come, down once it has come from
// above. Each edge and direction sends one piece after the other.
class TreePiece {
 public:
  TreePiece(Flows& flows, const Tree& tree, Bytes bytes)
      : flows_(flows), tree_(tree), bytes_(bytes), up_(flows.size()), down_(flows.size()) {}

  void next() {
    std::vector<CommPtr> sums;
    for (const std::size_t child : tree_.children[tree_.root]) {
      sums.push_back(reduce(child, tree_.root));
    }
    broadcast(tree_.root, sums);
  }

 private:
  CommPtr reduce(std::size_t member, std::size_t parent) {
    std::vector<CommPtr> after{up_[member]};
    for (const std::size_t child : tree_.children[member]) {
      after.push_back(reduce(child, member));
    }
    return up_[member] = flows_.send(member, parent, bytes_, after);
  }
  void broadcast(std::size_t member, const std::vector<CommPtr>& arrived) {
    for (const std::size_t child : tree_.children[member]) {
      std::vector<CommPtr> after = arrived;
      after.push_back(down_[child]);
      down_[child] = flows_.send(member, child, bytes_, after);
      broadcast(child, {down_[child]});
    }
  }

  Flows& flows_;
  const Tree& tree_;
  Bytes bytes_;
  std::vector<CommPtr> up_;  // last piece on the edge above a member
  std::vector<CommPtr> down_;
};

void add_tree(Flows& flows, Bytes bytes, bool second, int pieces) {
  const Tree tree = binary_tree(flows.size(), second);
  TreePiece piece(flows, tree, bytes / pieces);
  for (int i = 0; i < pieces; ++i) {
    piece.next();
  }
}

void add_all_to_all(Flows& flows, Bytes message) {
  for (std::size_t from = 0; from < flows.size(); ++from) {
    for (std::size_t to = 0; to < flows.size(); ++to) {
      if (from != to) {
        flows.send(from, to, message, {});
      }
    }
  }
}

void add_group(Flows& flows, const GroupTraffic& group, int pieces) {
  const std::size_t n = flows.size();
  const Bytes part = group.bytes / static_cast<double>(n);
  switch (group.pattern) {
    case FlowPattern::kRingGather:
      return add_ring(flows, part, n - 1);
    case FlowPattern::kRingAllReduce:
      return add_ring(flows, part, 2 * (n - 1));
    case FlowPattern::kTreeAllReduce:
      return add_tree(flows, group.bytes, false, pieces);
    case FlowPattern::kDoubleTreeAllReduce:
      add_tree(flows, group.bytes / 2, false, pieces);
      return add_tree(flows, group.bytes / 2, true, pieces);
    case FlowPattern::kAllToAll:
      return add_all_to_all(flows, part);
    case FlowPattern::kShift:
      return add_ring(flows, group.bytes, 1);
  }
}

std::vector<double> run_engine(const cost::NetworkShape& network,
                               std::span<const GroupTraffic> groups, int pieces) {
  // SimGrid may write to its arguments.
  std::vector<std::string> texts(kArguments.begin(), kArguments.end());
  std::vector<char*> arguments;
  for (std::string& text : texts) {
    arguments.push_back(text.data());
  }
  arguments.push_back(nullptr);
  int count = static_cast<int>(texts.size());
  const Engine engine(&count, arguments.data());
  const Fabric fabric(network);
  std::vector<Flows> flows;
  for (const GroupTraffic& group : groups) {
    add_group(flows.emplace_back(fabric, group), group, pieces);
  }
  for (const Flows& each : flows) {
    each.start();
  }
  engine.run();
  std::vector<double> ends;
  for (const Flows& each : flows) {
    ends.push_back(each.end());
  }
  return ends;
}

}  // namespace

Seconds SimulatedRun::total() const {
  return ends.empty() ? Seconds() : *std::max_element(ends.begin(), ends.end());
}

SimulatedRun simulate(const cost::NetworkShape& network, std::span<const cost::GroupTraffic> groups,
                      int pieces) {
  std::array<int, 2> ends_of_pipe{};
  if (pipe(ends_of_pipe.data()) != 0) {
    return {};
  }
  const std::size_t bytes = groups.size() * sizeof(double);
  std::fflush(nullptr);  // or the child would print what waits in our buffers once more
  const pid_t child = fork();
  if (child == 0) {
    const std::vector<double> ends = run_engine(network, groups, pieces);
    const bool written = write(ends_of_pipe[1], ends.data(), bytes) == static_cast<ssize_t>(bytes);
    _exit(written ? 0 : 1);
  }
  close(ends_of_pipe[1]);
  std::vector<double> ends(groups.size(), 0.0);
  const bool whole = read(ends_of_pipe[0], ends.data(), bytes) == static_cast<ssize_t>(bytes);
  close(ends_of_pipe[0]);
  int status = 0;
  waitpid(child, &status, 0);
  SimulatedRun result;
  for (const double end : ends) {
    result.ends.emplace_back(whole ? end : std::nan(""));
  }
  return result;
}

}  // namespace sextant
