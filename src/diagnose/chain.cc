#include "diagnose/chain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace sextant::diagnose {
namespace {

using metrics::kNone;

using RootKey = std::uint64_t;  // rank and cause

RootKey key_of(std::uint32_t rank, LateCause cause) {
  return std::uint64_t{rank} << 8U | static_cast<std::uint64_t>(cause);
}

// What a path took beyond its peers', by where it arose: the eight largest. Nobody has been seen to
// wait for more at once, and what is dropped becomes unexplained, not another's.
class Account {
 public:
  void add(RootKey key, std::int64_t ns) {
    for (std::size_t i = 0; i < size_; ++i) {
      if (entries_[i].first == key) {
        entries_[i].second += ns;
        return;
      }
    }
    if (size_ < entries_.size()) {
      entries_[size_++] = {key, ns};
      return;
    }
    auto* least = std::ranges::min_element(
        entries_, {}, [](const auto& entry) { return std::abs(entry.second); });
    if (std::abs(ns) > std::abs(least->second)) {
      *least = {key, ns};
    }
  }
  [[nodiscard]] std::int64_t of(RootKey key) const {
    for (std::size_t i = 0; i < size_; ++i) {
      if (entries_[i].first == key) {
        return entries_[i].second;
      }
    }
    return 0;
  }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.begin() + static_cast<std::ptrdiff_t>(size_); }

 private:
  std::array<std::pair<RootKey, std::int64_t>, 8> entries_{};
  std::size_t size_ = 0;
};

class ChainWalk {
 public:
  ChainWalk(const ReplayGraph& graph, const Replay& replay, const PeerTotals& peers)
      : graph_(graph),
        replay_(replay),
        peers_(peers),
        transfers_(median_transfers(graph)),
        missing_(graph.meetings),
        step_of_(graph.nodes.size(), 0) {
    for (std::uint32_t step = 0; step < graph.steps.size(); ++step) {
      for (std::uint32_t i = graph.steps[step].first; i < graph.steps[step].end; ++i) {
        step_of_[i] = step;
      }
    }
  }

  Chain take() {
    std::vector<std::vector<std::uint32_t>> order(graph_.steps.size());
    for (const std::uint32_t node : graph_.order) {
      order[step_of_[node]].push_back(node);
    }
    for (std::size_t step = 0; step < order.size(); ++step) {
      walk(graph_.steps[step], order[step]);
    }
    Chain chain{.roots = {}, .waiting_ns = waiting_ns_};
    for (auto& [key, root] : roots_) {
      const std::int64_t mean =
          root.waiting_ns / std::max<std::int64_t>(1, static_cast<std::int64_t>(order.size()));
      root.steps = std::ranges::count_if(by_step_[key],
                                         [&](std::int64_t waiting) { return 2 * waiting >= mean; });
      if (root.waiting_ns > 0) {
        chain.roots.push_back(root);
      }
    }
    std::ranges::stable_sort(chain.roots, {}, [](const Root& root) { return -root.waiting_ns; });
    return chain;
  }

 private:
  void walk(const ReplayStep& step, const std::vector<std::uint32_t>& order) {
    first_ = step.first;
    accounts_.assign(step.end - step.first, Account());
    in_step_.clear();
    for (const std::uint32_t node : order) {
      const std::uint32_t before = waited_for(graph_, replay_, node);
      if (before != kNone) {
        account(node) = account(before);
      }
      if (graph_.nodes[node].is_work) {
        add_work(node);
      } else if (graph_.nodes[node].meeting != kNone &&
                 --missing_[graph_.nodes[node].meeting] == 0) {
        meet(node);
      }
    }
    for (const auto& [key, waiting_ns] : in_step_) {
      by_step_[key].push_back(waiting_ns);
    }
  }

  [[nodiscard]] Account& account(std::uint32_t node) { return accounts_[node - first_]; }

  [[nodiscard]] Root& root_of(std::uint32_t rank, LateCause cause) {
    Root& root = roots_[key_of(rank, cause)];
    root.rank = rank;
    root.cause = cause;
    return root;
  }

  void add_excess(std::uint32_t node, LateCause cause, std::int64_t excess) {
    account(node).add(key_of(graph_.nodes[node].rank, cause), excess);
    Root& root = root_of(graph_.nodes[node].rank, cause);
    if (excess > root.worst_ns) {
      root.worst_ns = excess;
      root.worst_node = node;
    }
  }

  void add_work(std::uint32_t node) {
    const ReplayNode& of = graph_.nodes[node];
    const WorkParts parts = parts_of(graph_.summary->ranks[of.rank].work[of.place]);
    const WorkParts normal = peers_.normal_of(graph_, node);
    for (std::size_t part = 0; part < kWorkCauses; ++part) {
      if (parts[part] != normal[part]) {
        add_excess(node, static_cast<LateCause>(part), parts[part] - normal[part]);
      }
    }
  }

  void meet(std::uint32_t node) {
    const std::uint32_t last = last_to_come(graph_, replay_, node);
    const std::uint32_t meeting = graph_.nodes[node].meeting;
    const Account late = account(last);
    in_meeting_.clear();
    const std::uint32_t first = graph_.members[graph_.member_start[meeting]];
    for (std::uint32_t k = graph_.member_start[meeting]; k < graph_.member_start[meeting + 1];
         ++k) {
      const std::uint32_t member = graph_.members[k];
      if (member < first_ || member - first_ >= accounts_.size()) {
        continue;  // counted as of another step there
      }
      explain(late, account(member), replay_.came_ns[last] - replay_.came_ns[member]);
      account(member) = late;
      const std::int64_t slower = graph_.nodes[first].actual_ns - transfers_[first];
      if (slower > 0) {
        account(member).add(key_of(graph_.nodes[first].rank, LateCause::kLink), slower);
      }
    }
    for (const RootKey key : in_meeting_) {
      roots_[key].meetings += 1;
    }
    const std::int64_t slower = graph_.nodes[first].actual_ns - transfers_[first];
    Root& link = root_of(graph_.nodes[first].rank, LateCause::kLink);
    if (slower > link.worst_ns) {
      link.worst_ns = slower;
      link.worst_node = first;
    }
  }

  // Of the waiting, what the late rank's account has beyond the waiting one's; no more than there
  // was, in proportion.
  void explain(const Account& late, const Account& waiting, std::int64_t waited) {
    if (waited <= 0) {
      return;
    }
    waiting_ns_ += waited;
    std::int64_t all = 0;
    for (const auto& [key, ns] : late) {
      if (ns > 0) {
        all += std::max<std::int64_t>(0, ns - waiting.of(key));
      }
    }
    if (all == 0) {
      return;
    }
    const double scale = std::min(1.0, static_cast<double>(waited) / static_cast<double>(all));
    for (const auto& [key, ns] : late) {
      const std::int64_t beyond = ns > 0 ? std::max<std::int64_t>(0, ns - waiting.of(key)) : 0;
      if (beyond > 0) {
        const std::int64_t explained = std::llround(scale * static_cast<double>(beyond));
        roots_[key].waiting_ns += explained;
        in_step_[key] += explained;
        in_meeting_.insert(key);
      }
    }
  }

  const ReplayGraph& graph_;
  const Replay& replay_;
  const PeerTotals& peers_;
  const std::vector<std::int64_t> transfers_;
  std::vector<std::uint32_t> missing_;
  std::vector<std::uint32_t> step_of_;
  std::vector<Account> accounts_;  // of the step's nodes
  std::uint32_t first_ = 0;
  std::map<RootKey, Root> roots_;
  std::map<RootKey, std::vector<std::int64_t>> by_step_;  // of steps in which it explains any
  std::map<RootKey, std::int64_t> in_step_;
  std::set<RootKey> in_meeting_;
  std::int64_t waiting_ns_ = 0;
};

}  // namespace

double Chain::share_of(const Root& root) const {
  return waiting_ns == 0 ? 0.0
                         : static_cast<double>(root.waiting_ns) / static_cast<double>(waiting_ns);
}

Chain chain_of(const ReplayGraph& graph, const Replay& replay, const PeerTotals& peers) {
  return ChainWalk(graph, replay, peers).take();
}

}  // namespace sextant::diagnose
