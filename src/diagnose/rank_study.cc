#include "diagnose/rank_study.h"

#include <algorithm>

namespace sextant::diagnose {
namespace {

// Of the replayed steps, the mean over ranks.
Seconds recorded_step(const ReplayGraph& graph) {
  double sum = 0.0;
  double count = 0.0;
  for (const metrics::RankSummary& rank : graph.summary->ranks) {
    for (const metrics::StepMeasures& step : rank.steps) {
      if (std::ranges::binary_search(graph.steps, step.number, {}, &ReplayStep::number)) {
        sum += static_cast<double>(step.window.length_ns());
        count += 1.0;
      }
    }
  }
  return count > 0.0 ? sum / count * 1_ns : 0_s;
}

}  // namespace

RankStudy rank_study(const metrics::Summary& summary) {
  RankStudy study;
  if (summary.ranks.size() < 2) {
    study.missing = "profiles of other ranks of the job";
    return study;
  }
  study.meetings = meetings_of(summary);
  if (study.meetings.all.empty()) {
    study.missing =
        "collectives that ranks have in common: the same steps, with group and sequence number";
    return study;
  }
  study.clocks = clocks_of(summary, study.meetings);
  study.arrivals = arrivals_of(summary, study.meetings);
  study.stages = stages_of(summary, study.meetings);
  study.job = job_replay(summary, study.meetings);
  if (study.job.graph.steps.empty()) {
    study.missing = "a whole step that all ranks have in common";
    return study;
  }
  const double fits = study.job.actual / recorded_step(study.job.graph);
  // Neither holds of NaN.
  const bool is_close = fits <= kLongestReplay && fits >= kShortestReplay;
  if (!is_close) {
    study.missing =
        "a record that fits together: collectives with group and sequence number, and all that "
        "ranks did between them";
    return study;
  }
  study.peers = peer_totals(study.job.graph, PeerMeasure::kMedian);
  study.chain = chain_of(study.job.graph, study.job.as_recorded, study.peers);
  study.path = cross_path(study.job.graph, study.job.as_recorded);
  return study;
}

Seconds without_lateness(const RankStudy& study, const std::vector<std::uint32_t>& ranks,
                         LateCause cause) {
  const ReplayGraph& graph = study.job.graph;
  const auto part = static_cast<std::size_t>(cause);
  std::vector<std::int64_t> lengths = study.job.actual_ns;
  for (std::uint32_t i = 0; i < lengths.size(); ++i) {
    const ReplayNode& node = graph.nodes[i];
    if (node.is_work && part < kWorkCauses && std::ranges::find(ranks, node.rank) != ranks.end()) {
      const WorkParts parts = parts_of(graph.summary->ranks[node.rank].work[node.place]);
      lengths[i] -= std::max<std::int64_t>(0, parts[part] - study.peers.normal_of(graph, i)[part]);
    }
  }
  return replayed(graph, lengths).mean_step();
}

Seconds without_any_lateness(const RankStudy& study) {
  const ReplayGraph& graph = study.job.graph;
  std::vector<std::int64_t> lengths = study.job.actual_ns;
  for (std::uint32_t i = 0; i < lengths.size(); ++i) {
    if (graph.nodes[i].is_work) {
      std::int64_t normal = 0;
      for (const std::int64_t part : study.peers.normal_of(graph, i)) {
        normal += part;
      }
      lengths[i] = std::min(lengths[i], normal);
    }
  }
  return replayed(graph, lengths).mean_step();
}

}  // namespace sextant::diagnose
