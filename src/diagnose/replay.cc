#include "diagnose/replay.h"

#include <algorithm>
#include <cassert>

namespace sextant::diagnose {
namespace {

using metrics::kNone;

void finish_meeting(const ReplayGraph& graph, std::span<const std::int64_t> lengths_ns,
                    std::uint32_t meeting, Replay& replay) {
  const std::uint32_t from = graph.member_start[meeting];
  const std::uint32_t to = graph.member_start[meeting + 1];
  std::int64_t all_there = 0;
  for (std::uint32_t k = from; k < to; ++k) {
    all_there = std::max(all_there, replay.came_ns[graph.members[k]]);
  }
  for (std::uint32_t k = from; k < to; ++k) {
    replay.done_ns[graph.members[k]] = all_there + lengths_ns[graph.members[k]];
  }
}

}  // namespace

Seconds Replay::mean_step() const {
  double sum = 0.0;
  for (const std::int64_t step : step_ns) {
    sum += static_cast<double>(step);
  }
  return step_ns.empty() ? 0_s : sum / static_cast<double>(step_ns.size()) * 1_ns;
}

std::vector<std::int64_t> actual_lengths(const ReplayGraph& graph) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(graph.nodes.size());
  for (const ReplayNode& node : graph.nodes) {
    lengths.push_back(node.actual_ns);
  }
  return lengths;
}

Replay replayed(const ReplayGraph& graph, std::span<const std::int64_t> lengths_ns) {
  assert(lengths_ns.size() == graph.nodes.size());
  Replay replay;
  replay.came_ns.assign(graph.nodes.size(), 0);
  replay.done_ns.assign(graph.nodes.size(), 0);
  std::vector<std::uint32_t> missing = graph.meetings;
  for (const std::uint32_t node : graph.order) {
    std::int64_t came = 0;
    for (std::uint32_t k = graph.dependency_start[node]; k < graph.dependency_start[node + 1];
         ++k) {
      came = std::max(came, replay.done_ns[graph.dependencies[k]]);
    }
    replay.came_ns[node] = came;
    const std::uint32_t meeting = graph.nodes[node].meeting;
    if (meeting == kNone) {
      replay.done_ns[node] = came + lengths_ns[node];
    } else if (--missing[meeting] == 0) {
      finish_meeting(graph, lengths_ns, meeting, replay);
    }
  }
  for (const ReplayStep& step : graph.steps) {
    std::int64_t end = 0;
    for (std::uint32_t i = step.first; i < step.end; ++i) {
      end = std::max(end, replay.done_ns[i]);
    }
    replay.step_ns.push_back(end);
  }
  return replay;
}

std::uint32_t last_to_come(const ReplayGraph& graph, const Replay& replay, std::uint32_t node) {
  const std::uint32_t meeting = graph.nodes[node].meeting;
  if (meeting == kNone) {
    return node;
  }
  std::uint32_t last = graph.members[graph.member_start[meeting]];
  for (std::uint32_t k = graph.member_start[meeting]; k < graph.member_start[meeting + 1]; ++k) {
    if (replay.came_ns[graph.members[k]] > replay.came_ns[last]) {
      last = graph.members[k];
    }
  }
  return last;
}

std::uint32_t waited_for(const ReplayGraph& graph, const Replay& replay, std::uint32_t node) {
  std::uint32_t latest = kNone;
  for (std::uint32_t k = graph.dependency_start[node]; k < graph.dependency_start[node + 1]; ++k) {
    const std::uint32_t before = graph.dependencies[k];
    if (latest == kNone || replay.done_ns[before] > replay.done_ns[latest]) {
      latest = before;
    }
  }
  return latest;
}

}  // namespace sextant::diagnose
