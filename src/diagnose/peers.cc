#include "diagnose/peers.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "diagnose/medians.h"

namespace sextant::diagnose {
namespace {

std::int64_t measured(std::vector<std::int64_t>& values, PeerMeasure measure) {
  if (measure == PeerMeasure::kMedian) {
    return lower_median(values);
  }
  double sum = 0.0;
  for (const std::int64_t value : values) {
    sum += static_cast<double>(value);
  }
  return std::llround(sum / static_cast<double>(values.size()));
}

// Of the ranks of each number in ReplayStep::peers.
void compare_peers(const ReplayStep& step, std::size_t first, PeerMeasure measure,
                   PeerTotals& totals) {
  std::map<std::uint32_t, std::vector<std::size_t>> groups;
  for (std::size_t rank = 0; rank < step.peers.size(); ++rank) {
    groups[step.peers[rank]].push_back(first + rank);
  }
  std::vector<std::int64_t> values;
  for (const auto& [peers, places] : groups) {
    WorkParts normal{};
    for (std::size_t part = 0; part < kWorkCauses; ++part) {
      values.clear();
      for (const std::size_t place : places) {
        values.push_back(totals.own[place][part]);
      }
      normal[part] = measured(values, measure);
    }
    for (const std::size_t place : places) {
      totals.normal[place] = normal;
    }
  }
}

}  // namespace

std::string_view name_of(LateCause cause) {
  switch (cause) {
    case LateCause::kCompute:
      return "compute";
    case LateCause::kCopy:
      return "copies";
    case LateCause::kData:
      return "data loading";
    case LateCause::kHost:
      return "host launch";
    case LateCause::kOther:
      return "other idle time";
    case LateCause::kLink:
      return "slower link";
  }
  return "?";
}

WorkParts parts_of(const metrics::OwnWork& work) {
  return {work.compute_ns, work.copy_ns, work.data_ns, work.host_ns, work.other_ns};
}

WorkParts PeerTotals::normal_of(const ReplayGraph& graph, std::uint32_t node) const {
  const ReplayNode& of = graph.nodes[node];
  const std::size_t place = step_of[node] * ranks + of.rank;
  WorkParts parts = parts_of(graph.summary->ranks[of.rank].work[of.place]);
  for (std::size_t part = 0; part < kWorkCauses; ++part) {
    if (own[place][part] > 0) {
      parts[part] =
          std::llround(static_cast<double>(parts[part]) * static_cast<double>(normal[place][part]) /
                       static_cast<double>(own[place][part]));
    }
  }
  return parts;
}

PeerTotals peer_totals(const ReplayGraph& graph, PeerMeasure measure) {
  PeerTotals totals;
  totals.ranks = graph.summary->ranks.size();
  totals.own.resize(graph.steps.size() * totals.ranks);
  totals.normal.resize(totals.own.size());
  totals.step_of.assign(graph.nodes.size(), 0);
  for (std::size_t step = 0; step < graph.steps.size(); ++step) {
    for (std::uint32_t i = graph.steps[step].first; i < graph.steps[step].end; ++i) {
      const ReplayNode& node = graph.nodes[i];
      totals.step_of[i] = static_cast<std::uint32_t>(step);
      if (!node.is_work) {
        continue;
      }
      const WorkParts parts = parts_of(graph.summary->ranks[node.rank].work[node.place]);
      for (std::size_t part = 0; part < kWorkCauses; ++part) {
        totals.own[step * totals.ranks + node.rank][part] += parts[part];
      }
    }
    compare_peers(graph.steps[step], step * totals.ranks, measure, totals);
  }
  return totals;
}

std::vector<std::int64_t> median_transfers(const ReplayGraph& graph) {
  std::vector<std::int64_t> medians(graph.nodes.size(), 0);
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_type;
  std::vector<std::int64_t> values;
  for (const ReplayStep& step : graph.steps) {
    by_type.clear();
    for (std::uint32_t i = step.first; i < step.end; ++i) {
      if (!graph.nodes[i].is_work) {
        by_type[graph.nodes[i].type].push_back(i);
      }
    }
    for (const auto& [type, nodes] : by_type) {
      values.clear();
      for (const std::uint32_t i : nodes) {
        values.push_back(graph.nodes[i].actual_ns);
      }
      const std::int64_t median = lower_median(values);
      for (const std::uint32_t i : nodes) {
        medians[i] = median;
      }
    }
  }
  return medians;
}

}  // namespace sextant::diagnose
