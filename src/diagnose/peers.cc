#include "diagnose/peers.h"

#include <algorithm>
#include <span>

#include "diagnose/medians.h"

namespace sextant::diagnose {
namespace {

WorkParts median_parts(const ReplayGraph& graph, std::span<const std::uint32_t> nodes,
                       std::vector<std::int64_t>& values) {
  WorkParts medians{};
  for (std::size_t part = 0; part < kWorkCauses; ++part) {
    values.clear();
    for (const std::uint32_t i : nodes) {
      const ReplayNode& node = graph.nodes[i];
      values.push_back(parts_of(graph.summary->ranks[node.rank].work[node.place])[part]);
    }
    medians[part] = lower_median(values);
  }
  return medians;
}

std::int64_t median_length(const ReplayGraph& graph, std::span<const std::uint32_t> nodes,
                           std::vector<std::int64_t>& values) {
  values.clear();
  for (const std::uint32_t i : nodes) {
    values.push_back(graph.nodes[i].actual_ns);
  }
  return lower_median(values);
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

PeerMedians peer_medians(const ReplayGraph& graph) {
  PeerMedians medians;
  medians.place.assign(graph.nodes.size(), 0);
  std::vector<std::uint32_t> by_type;
  std::vector<std::int64_t> values;
  for (const ReplayStep& step : graph.steps) {
    by_type.clear();
    for (std::uint32_t i = step.first; i < step.end; ++i) {
      by_type.push_back(i);
    }
    const auto type_of = [&](std::uint32_t i) { return graph.nodes[i].type; };
    std::ranges::stable_sort(by_type, {}, type_of);
    for (auto from = by_type.begin(); from != by_type.end();) {
      const auto to = std::ranges::upper_bound(from, by_type.end(), type_of(*from), {}, type_of);
      const bool is_work = graph.nodes[*from].is_work;
      for (auto at = from; at != to; ++at) {
        medians.place[*at] =
            static_cast<std::uint32_t>(is_work ? medians.parts.size() : medians.lengths.size());
      }
      if (is_work) {
        medians.parts.push_back(median_parts(graph, {from, to}, values));
      } else {
        medians.lengths.push_back(median_length(graph, {from, to}, values));
      }
      from = to;
    }
  }
  return medians;
}

}  // namespace sextant::diagnose
