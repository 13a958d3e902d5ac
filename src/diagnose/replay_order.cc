#include "diagnose/replay_order.h"

#include <algorithm>
#include <map>
#include <utility>

namespace sextant::diagnose {
namespace {

using metrics::kNone;

bool precedes(const ReplayNode& before, const ReplayNode& after, std::int64_t same_ns) {
  const std::int64_t shorter =
      std::min(before.end_ns - before.start_ns, after.end_ns - after.start_ns);
  return before.end_ns <= after.start_ns + std::min(same_ns, shorter / 4);
}

using ByEnd = std::map<std::int64_t, std::vector<std::uint32_t>>;  // nodes of a lane

// Of the lane's nodes, by end, the latest to end before the node, and those that still ran when the
// last of these began: what was over by then comes before them anyhow.
void add_preceding(const ReplayGraph& graph, const std::vector<std::uint32_t>& nodes,
                   std::uint32_t node, std::int64_t same_ns, std::vector<std::uint32_t>& found) {
  const ReplayNode& of = graph.nodes[node];
  auto at = std::ranges::upper_bound(nodes, of.start_ns + same_ns, {},
                                     [&](std::uint32_t i) { return graph.nodes[i].end_ns; });
  std::int64_t last_start = -timeline::Timeline::kFarthestNs;
  while (at != nodes.begin() && graph.nodes[*(at - 1)].end_ns > last_start) {
    --at;
    if (*at < node && precedes(graph.nodes[*at], of, same_ns)) {
      found.push_back(*at);
      last_start = std::max(last_start, graph.nodes[*at].start_ns);
    }
  }
}

void keep_binding(const ReplayGraph& graph, const std::vector<std::uint32_t>& own,
                  std::vector<std::uint32_t>& others) {
  std::int64_t last_end = -timeline::Timeline::kFarthestNs;
  for (const std::vector<std::uint32_t>* some : {&own, &std::as_const(others)}) {
    for (const std::uint32_t i : *some) {
      last_end = std::max(last_end, graph.nodes[i].end_ns);
    }
  }
  std::erase_if(others, [&](std::uint32_t i) { return graph.nodes[i].end_ns < last_end; });
}

class Orderer {
 public:
  explicit Orderer(ReplayGraph& graph)
      : graph_(graph),
        open_(graph.nodes.size()),
        missing_(graph.meetings),
        is_ordered_(graph.nodes.size(), false) {
    count_followers();
  }

  void run() {
    graph_.order.reserve(graph_.nodes.size());
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      if (open_[i] == 0) {
        ready_.push_back(i);
      }
    }
    go_on();
    if (graph_.order.size() < graph_.nodes.size()) {
      loosen();
      drop_unmet();
    }
  }

 private:
  void loosen() {
    std::vector<std::uint32_t> by_start;
    std::size_t next = 0;
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      by_start.push_back(i);
    }
    std::ranges::stable_sort(by_start, {},
                             [&](std::uint32_t i) { return graph_.nodes[i].start_ns; });
    for (; graph_.order.size() < graph_.nodes.size(); ++next) {
      if (!is_ordered_[by_start[next]]) {
        graph_.loosened += 1;
        open_[by_start[next]] = 0;
        ready_.push_back(by_start[next]);
        go_on();
      }
    }
  }

  // What a node that went ahead did not wait for is none of its dependencies.
  void drop_unmet() {
    std::vector<std::uint32_t> place(graph_.nodes.size(), 0);
    for (std::uint32_t i = 0; i < graph_.order.size(); ++i) {
      place[graph_.order[i]] = i;
    }
    std::vector<std::uint32_t> done = place;
    for (std::size_t meeting = 0; meeting < graph_.meetings.size(); ++meeting) {
      std::uint32_t last = 0;
      for (std::uint32_t k = graph_.member_start[meeting]; k < graph_.member_start[meeting + 1];
           ++k) {
        last = std::max(last, place[graph_.members[k]]);
      }
      for (std::uint32_t k = graph_.member_start[meeting]; k < graph_.member_start[meeting + 1];
           ++k) {
        done[graph_.members[k]] = last;
      }
    }
    std::uint32_t kept = 0;
    std::uint32_t from = 0;
    for (std::uint32_t node = 0; node < graph_.nodes.size(); ++node) {
      const std::uint32_t to = graph_.dependency_start[node + 1];
      for (; from < to; ++from) {
        if (done[graph_.dependencies[from]] < place[node]) {
          graph_.dependencies[kept++] = graph_.dependencies[from];
        }
      }
      graph_.dependency_start[node + 1] = kept;
    }
    graph_.dependencies.resize(kept);
  }

  void count_followers() {
    std::vector<std::uint32_t> count(graph_.nodes.size() + 1, 0);
    for (const std::uint32_t before : graph_.dependencies) {
      count[before + 1] += 1;
    }
    for (std::size_t i = 1; i < count.size(); ++i) {
      count[i] += count[i - 1];
    }
    follower_start_ = count;
    followers_.resize(graph_.dependencies.size());
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      open_[i] = graph_.dependency_start[i + 1] - graph_.dependency_start[i];
      for (std::uint32_t k = graph_.dependency_start[i]; k < graph_.dependency_start[i + 1]; ++k) {
        followers_[count[graph_.dependencies[k]]++] = i;
      }
    }
  }

  void go_on() {
    while (!ready_.empty()) {
      const std::uint32_t node = ready_.back();
      ready_.pop_back();
      if (is_ordered_[node]) {
        continue;
      }
      is_ordered_[node] = true;
      graph_.order.push_back(node);
      const std::uint32_t meeting = graph_.nodes[node].meeting;
      if (meeting == kNone) {
        finish(node);
      } else if (--missing_[meeting] == 0) {
        for (std::uint32_t k = graph_.member_start[meeting]; k < graph_.member_start[meeting + 1];
             ++k) {
          finish(graph_.members[k]);
        }
      }
    }
  }

  void finish(std::uint32_t node) {
    for (std::uint32_t k = follower_start_[node]; k < follower_start_[node + 1]; ++k) {
      const std::uint32_t after = followers_[k];
      if (open_[after] > 0 && --open_[after] == 0) {
        ready_.push_back(after);
      }
    }
  }

  ReplayGraph& graph_;
  std::vector<std::uint32_t> open_;     // dependencies that are not done
  std::vector<std::uint32_t> missing_;  // members that have not come
  std::vector<bool> is_ordered_;
  std::vector<std::uint32_t> follower_start_, followers_, ready_;
};

}  // namespace

void follow(ReplayGraph& graph, std::uint32_t first, const std::vector<std::int64_t>& lanes,
            const Following& how) {
  ByEnd by_end;
  for (std::uint32_t i = 0; i < lanes.size(); ++i) {
    by_end[lanes[i]].push_back(first + i);
  }
  for (auto& [lane, nodes] : by_end) {
    std::ranges::stable_sort(nodes, {}, [&](std::uint32_t i) { return graph.nodes[i].end_ns; });
  }
  std::vector<std::uint32_t> own;
  std::vector<std::uint32_t> others;
  for (std::uint32_t i = first; i < graph.nodes.size(); ++i) {
    const ReplayNode& node = graph.nodes[i];
    const bool goes_on = node.is_work && graph.summary->ranks[node.rank].work[node.place].goes_on;
    own.clear();
    others.clear();
    for (const auto& [lane, nodes] : by_end) {
      // What begins within a kernel follows what that kernel followed, and nothing that ended
      // since.
      if (!goes_on || nodes.empty() || graph.nodes[nodes.front()].is_work) {
        add_preceding(graph, nodes, i, how.same_ns, lane == lanes[i - first] ? own : others);
      }
    }
    if (!how.keeps_all) {
      keep_binding(graph, own, others);
    }
    graph.dependencies.insert(graph.dependencies.end(), own.begin(), own.end());
    graph.dependencies.insert(graph.dependencies.end(), others.begin(), others.end());
    graph.dependency_start.push_back(static_cast<std::uint32_t>(graph.dependencies.size()));
  }
}

void put_in_order(ReplayGraph& graph) {
  Orderer(graph).run();
}

}  // namespace sextant::diagnose
