#include "diagnose/what_if.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "diagnose/medians.h"
#include "diagnose/peers.h"
#include "diagnose/stages.h"

namespace sextant::diagnose {
namespace {

using metrics::kNone;

// Source: StragglerAnalysis, compute_mw.py: RATIO.
constexpr std::size_t kWorstPercent = 3;
// Replays of one rank each; a job without coordinates has no cheaper score.
constexpr std::size_t kMostScored = 32;

std::int64_t mean_of(const std::vector<std::int64_t>& values) {
  double sum = 0.0;
  for (const std::int64_t value : values) {
    sum += static_cast<double>(value);
  }
  return std::llround(sum / static_cast<double>(values.size()));
}

// Of named operations and of transfers, by type. A communication that met nobody holds waiting that
// cannot be told from its transfer; in a whole job's trace it is one within a rank.
std::vector<std::int64_t> by_type(const ReplayGraph& graph) {
  std::vector<std::vector<std::int64_t>> lengths(graph.types);
  std::vector<bool> is_work(graph.types, false);
  for (const ReplayNode& node : graph.nodes) {
    lengths[node.type].push_back(node.actual_ns);
    is_work[node.type] = node.is_work;
  }
  std::vector<std::int64_t> of_type(graph.types, 0);
  for (std::size_t type = 0; type < lengths.size(); ++type) {
    if (!lengths[type].empty()) {
      of_type[type] = is_work[type] ? mean_of(lengths[type]) : median_ns(lengths[type]);
    }
  }
  return of_type;
}

std::vector<std::int64_t> ideal_lengths(const ReplayGraph& graph) {
  const std::vector<std::int64_t> of_type = by_type(graph);
  const PeerTotals means = peer_totals(graph, PeerMeasure::kMean);
  std::vector<std::int64_t> lengths;
  lengths.reserve(graph.nodes.size());
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const ReplayNode& node = graph.nodes[i];
    std::int64_t length = of_type[node.type];
    if (node.is_work && !node.is_operation) {
      length = 0;
      for (const std::int64_t part : means.normal_of(graph, i)) {
        length += part;
      }
    }
    lengths.push_back(length);
  }
  return lengths;
}

Seconds mixed(const JobReplay& job, const std::function<bool(const ReplayNode&)>& is_ideal) {
  std::vector<std::int64_t> lengths = job.actual_ns;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (is_ideal(job.graph.nodes[i])) {
      lengths[i] = job.ideal_ns[i];
    }
  }
  return replayed(job.graph, lengths).mean_step();
}

// Slowdowns by the value of a coordinate, for each rank; empty where a rank has none.
std::vector<double> by_coordinate(const JobReplay& job, const char* axis) {
  std::map<std::int64_t, double> of_value;
  std::vector<std::int64_t> of_rank;
  for (const metrics::RankSummary& rank : job.graph.summary->ranks) {
    const auto at = coordinate(rank, axis);
    if (!at) {
      return {};
    }
    of_rank.push_back(*at);
    of_value[*at] = 1.0;
  }
  for (auto& [value, slowdown] : of_value) {
    const std::int64_t held = value;
    slowdown = slowdown_by(job, [&](const ReplayNode& node) { return of_rank[node.rank] == held; });
  }
  std::vector<double> slowdowns;
  for (const std::int64_t at : of_rank) {
    slowdowns.push_back(of_value.at(at));
  }
  return slowdowns;
}

// Ranks whose own work is longest beyond the ideal.
std::vector<std::uint32_t> most_laden(const JobReplay& job) {
  std::vector<std::int64_t> excess(job.graph.summary->ranks.size(), 0);
  for (std::size_t i = 0; i < job.graph.nodes.size(); ++i) {
    if (job.graph.nodes[i].is_work) {
      excess[job.graph.nodes[i].rank] += job.actual_ns[i] - job.ideal_ns[i];
    }
  }
  std::vector<std::uint32_t> ranks(excess.size());
  for (std::uint32_t i = 0; i < ranks.size(); ++i) {
    ranks[i] = i;
  }
  std::ranges::stable_sort(ranks, {}, [&](std::uint32_t rank) { return -excess[rank]; });
  ranks.resize(std::min(ranks.size(), kMostScored));
  return ranks;
}

std::vector<SlowWorker> scored_workers(const JobReplay& job) {
  const std::vector<double> by_replica = by_coordinate(job, "dp");
  const std::vector<double> by_stage = by_coordinate(job, "pp");
  std::vector<SlowWorker> workers;
  if (!by_replica.empty() && !by_stage.empty()) {
    for (std::uint32_t i = 0; i < by_replica.size(); ++i) {
      workers.push_back({i, std::min(by_replica[i], by_stage[i])});
    }
    return workers;
  }
  for (const std::uint32_t rank : most_laden(job)) {
    workers.push_back(
        {rank, slowdown_by(job, [&](const ReplayNode& node) { return node.rank == rank; })});
  }
  return workers;
}

}  // namespace

JobReplay job_replay(const metrics::Summary& summary, const Meetings& meetings) {
  JobReplay job;
  job.graph = replay_graph(summary, meetings);
  job.actual_ns = actual_lengths(job.graph);
  job.ideal_ns = ideal_lengths(job.graph);
  job.as_recorded = replayed(job.graph, job.actual_ns);
  job.actual = job.as_recorded.mean_step();
  job.ideal = replayed(job.graph, job.ideal_ns).mean_step();
  return job;
}

Seconds mended(const JobReplay& job, const std::function<bool(const ReplayNode&)>& is_mended) {
  return mixed(job, is_mended);
}

std::optional<double> explained_share(const JobReplay& job, Seconds mended) {
  const Seconds lost = job.actual - job.ideal;
  return lost > 0_s ? std::optional((job.actual - mended) / lost) : std::nullopt;
}

double slowdown_by(const JobReplay& job,
                   const std::function<bool(const ReplayNode&)>& is_recorded) {
  const Seconds step = mixed(job, [&](const ReplayNode& node) { return !is_recorded(node); });
  return job.ideal > 0_s ? step / job.ideal : 1.0;
}

std::vector<SlowWorker> slowest_workers(const JobReplay& job) {
  std::vector<SlowWorker> workers = scored_workers(job);
  std::ranges::stable_sort(workers, {}, [](const SlowWorker& one) { return -one.slowdown; });
  const std::size_t all = job.graph.summary->ranks.size();
  const std::size_t worst = (all * kWorstPercent + 99) / 100;
  workers.resize(std::min(workers.size(), worst));
  return workers;
}

}  // namespace sextant::diagnose
