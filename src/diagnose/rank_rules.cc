#include "diagnose/rank_rules.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/quantity_text.h"

namespace sextant::diagnose {
namespace {

using metrics::kNone;
using metrics::RankSummary;
using metrics::Summary;

constexpr std::array<const char*, 7> kRankRules{
    "late-rank",       "slow-worker",     "data-late-rank", "stage-imbalance",
    "pipeline-bubble", "straggling-link", "slow-collective"};
constexpr std::size_t kMostNamed = 4;

// How well the clocks of ranks fit, and how well the replay does.
std::vector<std::string> notes_of(const Scene& scene, const RankStudy& study) {
  std::vector<std::string> notes;
  const Clocks& clocks = study.clocks;
  const std::size_t ranks = clocks.ranks.size();
  if (clocks.typical_residual && clocks.high_residual) {
    notes.push_back(fmt::format(
        "clocks of {} of {} ranks are aligned by the ends of their collectives: half of these lie "
        "within {} of their median, nineteen in twenty within {}",
        ranks - clocks.unaligned, ranks, to_text(*clocks.typical_residual),
        to_text(*clocks.high_residual)));
  }
  if (clocks.unaligned > 0) {
    notes.push_back(fmt::format(
        "clocks of {} of {} ranks cannot be aligned: they share too few collectives with the "
        "others; who was late does not depend on it",
        clocks.unaligned, ranks));
  }
  notes.push_back(
      fmt::format("replayed from what ranks did, a step takes {} (recorded: {}); if nobody were "
                  "late, {}; if all "
                  "work took its mean, {}",
                  to_text(study.job.actual), to_text(scene.step),
                  to_text(without_any_lateness(study)), to_text(study.job.ideal)));
  if (study.job.graph.steps_left_out > 0) {
    notes.push_back(fmt::format("the replay leaves out {} steps that are not whole in every rank",
                                study.job.graph.steps_left_out));
  }
  return notes;
}

std::string with_place(const RankSummary& rank) {
  std::string text = fmt::format("{}", rank.rank.value);
  for (std::size_t i = 0; i < rank.coordinates.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? " (" : ", ", rank.coordinates[i].first,
                        rank.coordinates[i].second);
  }
  return rank.coordinates.empty() ? text : text + ")";
}

}  // namespace

std::string rank_words(const Summary& summary, const std::vector<std::uint32_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  const std::size_t named = std::min(ranks.size(), kMostNamed);
  for (std::size_t i = 0; i < named; ++i) {
    const bool is_last = i + 1 == named && named == ranks.size();
    text += i == 0 ? "" : is_last ? " and " : ", ";
    text += with_place(summary.ranks[ranks[i]]);
  }
  return named == ranks.size() ? text : text + fmt::format(" and {} more", ranks.size() - named);
}

std::vector<RankId> rank_ids(const Summary& summary, const std::vector<std::uint32_t>& ranks) {
  std::vector<RankId> ids;
  for (const std::uint32_t rank : ranks) {
    ids.push_back(summary.ranks[rank].rank);
  }
  std::ranges::sort(ids);
  return ids;
}

Seconds of_recorded_step(const Scene& scene, const RankStudy& study, Seconds saved) {
  // What is claimed is a ceiling: the upper end of what a replay may be off by. Source: Lin et al.
  // 2025, arXiv:2505.05713, section 3, which leaves out jobs whose replay is off by 5 %.
  constexpr double kReplayError = 0.05;
  return study.job.actual > 0_s ? scene.step * (saved / study.job.actual) * (1.0 + kReplayError)
                                : 0_s;
}

bool is_sample(const Summary& summary) {
  return std::ranges::any_of(summary.ranks, [&](const RankSummary& rank) {
    return rank.world && *rank.world > static_cast<std::int64_t>(summary.ranks.size());
  });
}

std::optional<Evidence> longest_wait(const RankStudy& study,
                                     const std::vector<std::uint32_t>& waited_for_ranks) {
  const ReplayGraph& graph = study.job.graph;
  const Replay& replay = study.job.as_recorded;
  std::uint32_t longest = kNone;
  std::int64_t waited = 0;
  std::uint32_t for_whom = kNone;
  for (std::uint32_t meeting = 0; meeting < graph.meetings.size(); ++meeting) {
    const std::uint32_t first = graph.members[graph.member_start[meeting]];
    const std::uint32_t last = last_to_come(graph, replay, first);
    if (std::ranges::find(waited_for_ranks, graph.nodes[last].rank) == waited_for_ranks.end()) {
      continue;
    }
    for (std::uint32_t k = graph.member_start[meeting]; k < graph.member_start[meeting + 1]; ++k) {
      const std::uint32_t member = graph.members[k];
      if (replay.came_ns[last] - replay.came_ns[member] > waited) {
        waited = replay.came_ns[last] - replay.came_ns[member];
        longest = member;
        for_whom = graph.nodes[last].rank;
      }
    }
  }
  if (longest == kNone) {
    return std::nullopt;
  }
  const ReplayNode& node = graph.nodes[longest];
  // Where the trace shows the transfer alone, the waiting is what lies before it.
  const std::uint32_t before = waited_for(graph, replay, longest);
  const std::int64_t from =
      before == kNone ? node.start_ns : std::min(node.start_ns, graph.nodes[before].end_ns);
  const metrics::Summary& summary = *graph.summary;
  return Evidence{
      .rank = summary.ranks[node.rank].rank,
      .time = {from, node.end_ns},
      .what = fmt::format("waits {} for rank {}", to_text(static_cast<double>(waited) * 1_ns),
                          summary.ranks[for_whom].rank.value)};
}

Findings rank_findings(const Scene& scene, const RankStudy& study) {
  Findings findings;
  if (!study.missing.empty()) {
    for (const char* rule : kRankRules) {
      findings.abstained.push_back({rule, study.missing});
    }
    return findings;
  }
  add_late_ranks(scene, study, findings);
  add_pipeline(scene, study, findings);
  add_links(scene, study, findings);
  findings.notes = notes_of(scene, study);
  if (is_sample(*scene.summary)) {
    for (Finding& finding : findings.found) {
      finding.status = std::max(finding.status, Status::kInferred);
      finding.cause +=
          fmt::format(" (of the {} ranks given; what the job's others do is not known)",
                      scene.summary->ranks.size());
    }
  }
  return findings;
}

Findings rank_findings(const Scene& scene) {
  return rank_findings(scene, rank_study(*scene.summary));
}

}  // namespace sextant::diagnose
