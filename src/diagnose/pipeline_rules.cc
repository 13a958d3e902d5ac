// stage-imbalance, pipeline-bubble: what a pipeline's division and its schedule cost.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "diagnose/medians.h"
#include "diagnose/rank_rules.h"

namespace sextant::diagnose {
namespace {

// A pipeline's bubble is small where a step has four microbatches or more for each stage. Source:
// Huang et al. 2019, GPipe, arXiv:1811.06965, section 2.3: "negligible when M ≥ 4 × K".
constexpr double kMicrobatchesPerStage = 4.0;

struct StageTimes {
  std::map<std::int64_t, std::vector<std::uint32_t>> ranks;  // by stage
  std::map<std::int64_t, double> compute_ns;                 // of a rank of it, over all steps
  double mean_ns = 0.0;                                      // over stages
};

// Of a stage the median of its ranks: one slow rank makes no long stage.
StageTimes stage_times(const RankStudy& study) {
  const ReplayGraph& graph = study.job.graph;
  std::vector<std::int64_t> of_rank(study.stages.size(), 0);
  for (const ReplayNode& node : graph.nodes) {
    if (node.is_work) {
      of_rank[node.rank] += graph.summary->ranks[node.rank].work[node.place].compute_ns;
    }
  }
  StageTimes times;
  for (std::uint32_t rank = 0; rank < study.stages.size(); ++rank) {
    times.ranks[study.stages[rank]].push_back(rank);
  }
  for (const auto& [stage, ranks] : times.ranks) {
    std::vector<std::int64_t> compute;
    for (const std::uint32_t rank : ranks) {
      compute.push_back(of_rank[rank]);
    }
    times.compute_ns[stage] = static_cast<double>(lower_median(compute));
    times.mean_ns += times.compute_ns[stage];
  }
  times.mean_ns /= static_cast<double>(std::max<std::size_t>(1, times.ranks.size()));
  return times;
}

// The mean step if each stage computed as long as `wanted_ns` says.
Seconds with_stages(const RankStudy& study, const StageTimes& times,
                    const std::map<std::int64_t, double>& wanted_ns) {
  const ReplayGraph& graph = study.job.graph;
  std::vector<std::int64_t> lengths = study.job.actual_ns;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const ReplayNode& node = graph.nodes[i];
    const double own = node.is_work ? times.compute_ns.at(study.stages[node.rank]) : 0.0;
    if (own > 0.0) {
      const auto compute =
          static_cast<double>(graph.summary->ranks[node.rank].work[node.place].compute_ns);
      const double scale = wanted_ns.at(study.stages[node.rank]) / own;
      lengths[i] += static_cast<std::int64_t>(compute * (scale - 1.0));
    }
  }
  return replayed(graph, lengths).mean_step();
}

// What goes if all stages compute as long as they do on average, which is what dividing the model
// otherwise can do; and if the longest one does what the others do, which doing less there can.
struct StageGains {
  Seconds balanced;
  Seconds trimmed;
};

StageGains stage_gains(const RankStudy& study, const StageTimes& times, std::int64_t longest) {
  std::map<std::int64_t, double> even = times.compute_ns;
  for (auto& [stage, wanted] : even) {
    wanted = times.mean_ns;
  }
  const double stages = static_cast<double>(times.compute_ns.size());
  std::map<std::int64_t, double> trimmed = times.compute_ns;
  trimmed[longest] = (times.mean_ns * stages - times.compute_ns.at(longest)) / (stages - 1.0);
  return {.balanced = study.job.actual - with_stages(study, times, even),
          .trimmed = study.job.actual - with_stages(study, times, trimmed)};
}

// Its own ranks compute longer, all others wait for them.
PartTimes parts_of_imbalance(const Scene& scene, Seconds lost, std::size_t ranks) {
  PartTimes parts{};
  const double own = static_cast<double>(ranks) / static_cast<double>(scene.summary->ranks.size());
  parts[static_cast<std::size_t>(StepPart::kCompute)] = lost * own;
  parts[static_cast<std::size_t>(StepPart::kExposedCommunication)] = lost * (1.0 - own);
  return parts;
}

std::optional<Evidence> longest_work(const RankStudy& study, std::uint32_t rank) {
  const ReplayGraph& graph = study.job.graph;
  const ReplayNode* longest = nullptr;
  for (const ReplayNode& node : graph.nodes) {
    if (node.is_work && node.rank == rank &&
        (longest == nullptr || node.actual_ns > longest->actual_ns)) {
      longest = &node;
    }
  }
  return longest == nullptr ? std::nullopt
                            : std::optional(Evidence{graph.summary->ranks[rank].rank,
                                                     {longest->start_ns, longest->end_ns},
                                                     "the stage's longest work"});
}

bool add_imbalance(const Scene& scene, const RankStudy& study, const StageTimes& times,
                   Findings& findings) {
  const auto longest = std::ranges::max_element(times.compute_ns, {},
                                                [](const auto& stage) { return stage.second; });
  const StageGains gains = stage_gains(study, times, longest->first);
  if (of_recorded_step(scene, study, gains.balanced) < kWorthSaying * scene.step) {
    return false;
  }
  const Seconds lost = of_recorded_step(scene, study, std::max(gains.balanced, gains.trimmed));
  const std::vector<std::uint32_t>& ranks = times.ranks.at(longest->first);
  const double steps = static_cast<double>(study.job.graph.steps.size());
  Finding finding;
  finding.rule = "stage-imbalance";
  finding.cause = fmt::format(
      "Stage {} of {} ({}) computes {} a step where the mean stage takes {}; the other stages wait "
      "for it. Slowdown S {:.2f}: the step as replayed over one in which all work takes its mean",
      longest->first, times.ranks.size(), rank_words(*scene.summary, ranks),
      to_text(longest->second / steps * 1_ns), to_text(times.mean_ns / steps * 1_ns),
      study.job.slowdown());
  finding.ranks = rank_ids(*scene.summary, ranks);
  finding.per_step = lost;
  finding.parts = parts_of_imbalance(scene, lost, ranks.size());
  finding.status = Status::kVerified;
  if (auto work = longest_work(study, ranks.front())) {
    finding.evidence.push_back(*std::move(work));
  }
  if (auto waits = longest_wait(study, ranks)) {
    finding.evidence.push_back(*std::move(waits));
  }
  findings.found.push_back(std::move(finding));
  return true;
}

// Microbatches of a step, times the parts of the model that each passes on a rank: a rank sends
// each of them forward once to the next, and gets it back.
double microbatches(const RankStudy& study) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::size_t messages = 0;
  for (const Meeting& meeting : study.meetings.all) {
    if (meeting.is_message) {
      const auto [low, high] = std::minmax(meeting.seen[0].rank_place, meeting.seen[1].rank_place);
      pairs.insert({low, high});
      messages += 1;
    }
  }
  std::set<std::int64_t> steps;
  for (const Meeting& meeting : study.meetings.all) {
    steps.insert(meeting.step);
  }
  return pairs.empty() ? 0.0
                       : static_cast<double>(messages) / 2.0 /
                             static_cast<double>(pairs.size() * steps.size());
}

void add_bubble(const Scene& scene, const RankStudy& study, std::size_t stages, bool is_unbalanced,
                Findings& findings) {
  const double batches = microbatches(study);
  if (batches < 1.0 || batches >= kMicrobatchesPerStage * static_cast<double>(stages)) {
    return;
  }
  // Of a step of equal stages. Source: Narayanan et al. 2021, arXiv:2104.04473, section 2.2.
  const double others = static_cast<double>(stages) - 1.0;
  const double share = others / (batches + others);
  const double ranks = static_cast<double>(scene.summary->ranks.size());
  const double steps = static_cast<double>(study.job.graph.steps.size());
  const Seconds waited = static_cast<double>(study.chain.waiting_ns) / ranks / steps * 1_ns;
  // At least what the schedule leaves; at most what communication stands alone for, some of which
  // is waiting for messages.
  const Seconds alone = scene.parts[static_cast<std::size_t>(StepPart::kExposedCommunication)];
  const Seconds lost =
      std::max(std::min(share * scene.step, of_recorded_step(scene, study, waited)),
               std::min(alone, of_recorded_step(scene, study, waited)));
  if (lost < kWorthSaying * scene.step) {
    return;
  }
  Finding finding;
  finding.rule = "pipeline-bubble";
  finding.cause = fmt::format(
      "A pipeline of {} stages with {:.0f} microbatches a step fills and drains for {:.0f} % of "
      "it: "
      "ranks wait {} a step for messages",
      stages, batches, 100.0 * share, to_text(waited));
  finding.per_step = lost;
  finding.parts[static_cast<std::size_t>(StepPart::kExposedCommunication)] = lost;
  finding.status = Status::kInferred;
  // Waiting for a long stage lies in the same moments: balance first, then see what is left.
  finding.explained_by =
      is_unbalanced ? std::optional<std::string>("stage-imbalance") : std::nullopt;
  std::vector<std::uint32_t> all;
  for (std::uint32_t rank = 0; rank < scene.summary->ranks.size(); ++rank) {
    all.push_back(rank);
  }
  if (auto waits = longest_wait(study, all)) {
    finding.evidence.push_back(*std::move(waits));
  }
  findings.found.push_back(std::move(finding));
}

}  // namespace

void add_pipeline(const Scene& scene, const RankStudy& study, Findings& findings) {
  const StageTimes times = study.stages.empty() ? StageTimes() : stage_times(study);
  if (times.ranks.size() < 2) {
    return;
  }
  const bool is_unbalanced = add_imbalance(scene, study, times, findings);
  add_bubble(scene, study, times.ranks.size(), is_unbalanced, findings);
}

}  // namespace sextant::diagnose
