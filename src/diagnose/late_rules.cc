// late-rank, slow-worker, data-late-rank: a few ranks hold all others up.
//
// Told from chance by what a fault is: it comes again (in most steps; where one step alone was
// recorded, in many of its meetings), it is one rank's or a few ranks', and it is worth something.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "diagnose/medians.h"
#include "diagnose/rank_rules.h"

namespace sextant::diagnose {
namespace {

using metrics::kNone;
using metrics::Summary;

// Of the waiting for one cause the named ranks explain that much: a cause is named if it covers
// most. Source: traceml, culprit rule: 80 %.
constexpr double kCovers = 0.8;
// Of all waiting that goes back to anybody: less is one of many things.
constexpr double kLeastLateShare = 0.25;
// At most one rank in four: what more do is how the job is, not who is late.
constexpr std::size_t kRanksPerLate = 4;
// Waiting for the host or for data that all ranks have is how the job is: late is who has at least
// as much again as its peers.
constexpr double kAsMuchAgain = 2.0;
// In one step alone only what happens again and again in it is no chance: eight meetings.
constexpr std::int64_t kFewestMeetings = 8;

struct LateRule {
  LateCause cause;
  const char* rule;
  StepPart part;         // what the late rank's own step shows
  const char* sentence;  // after "because"
};
constexpr std::array<LateRule, 4> kLateRules{
    {{LateCause::kHost, "late-rank", StepPart::kIdle, "launch on the host comes late"},
     {LateCause::kCompute, "slow-worker", StepPart::kCompute, "the same compute takes longer"},
     {LateCause::kCopy, "slow-worker", StepPart::kExposedCopy, "the same copies take longer"},
     {LateCause::kData, "data-late-rank", StepPart::kIdle, "loading data takes longer"}}};

struct LateRanks {
  std::vector<std::uint32_t> ranks;  // most waiting first
  std::vector<Root> roots;           // of these
  std::int64_t waiting_ns = 0;       // that they explain
  std::int64_t of_all_ns = 0;        // that goes back to anybody at all
};

bool comes_again(const Root& root, std::size_t steps) {
  return steps == 1 ? root.meetings >= kFewestMeetings
                    : 2 * root.steps > static_cast<std::int64_t>(steps);
}

// The fewest ranks that cover the waiting for the cause; nothing if these are no small part.
LateRanks late_ranks(const RankStudy& study, LateCause cause) {
  LateRanks late;
  std::int64_t of_cause = 0;
  for (const Root& root : study.chain.roots) {
    late.of_all_ns += root.waiting_ns;
    of_cause += root.cause == cause ? root.waiting_ns : 0;
  }
  const std::size_t ranks = study.job.graph.summary->ranks.size();
  const std::size_t most = std::max<std::size_t>(1, ranks / kRanksPerLate);
  for (const Root& root : study.chain.roots) {
    if (root.cause == cause && comes_again(root, study.job.graph.steps.size()) &&
        static_cast<double>(late.waiting_ns) < kCovers * static_cast<double>(of_cause)) {
      late.ranks.push_back(root.rank);
      late.roots.push_back(root);
      late.waiting_ns += root.waiting_ns;
    }
  }
  const bool covers =
      static_cast<double>(late.waiting_ns) >= kCovers * static_cast<double>(of_cause) &&
      static_cast<double>(late.waiting_ns) >= kLeastLateShare * static_cast<double>(late.of_all_ns);
  return covers && late.ranks.size() <= most ? late : LateRanks();
}

// All ranks of one stage and nobody else: the stage is long, and no rank slow (pipeline_rules.cc).
bool is_whole_stage(const RankStudy& study, const std::vector<std::uint32_t>& ranks) {
  if (study.stages.empty()) {
    return false;
  }
  const std::int64_t stage = study.stages[ranks.front()];
  const bool is_one =
      std::ranges::all_of(ranks, [&](std::uint32_t rank) { return study.stages[rank] == stage; });
  return is_one &&
         std::ranges::count(study.stages, stage) == static_cast<std::ptrdiff_t>(ranks.size());
}

// The others wait in communication for as long; the late rank itself is at what makes it late.
PartTimes parts_of_loss(const Scene& scene, Seconds lost, std::size_t late, StepPart part) {
  PartTimes parts{};
  const double own = static_cast<double>(late) / static_cast<double>(scene.summary->ranks.size());
  parts[static_cast<std::size_t>(part)] = lost * own;
  parts[static_cast<std::size_t>(StepPart::kExposedCommunication)] += lost * (1.0 - own);
  return parts;
}

void add_arrivals(const RankStudy& study, const LateRanks& late, Finding& finding) {
  const ReplayGraph& graph = study.job.graph;
  for (const Root& root : late.roots) {
    if (root.worst_node == kNone || finding.evidence.size() + 1 >= kMostEvidence) {
      continue;
    }
    const ReplayNode& node = graph.nodes[root.worst_node];
    finding.evidence.push_back(
        {.rank = graph.summary->ranks[node.rank].rank,
         .time = {node.start_ns, node.end_ns},
         .what = fmt::format("{} takes {} longer than its peers'", name_of(root.cause),
                             to_text(static_cast<double>(root.worst_ns) * 1_ns))});
  }
  if (auto waits = longest_wait(study, late.ranks)) {
    finding.evidence.push_back(*std::move(waits));
  }
}

// A part of the late ranks' work a step, theirs and their peers'.
struct AgainstPeers {
  Seconds own;  // the mean of these ranks
  Seconds normal;
  Seconds beyond;          // of all of them together, where it is longer
  Seconds longest_beyond;  // of the one with most
};

AgainstPeers against_peers(const RankStudy& study, const LateRanks& late, LateCause cause) {
  const auto part = static_cast<std::size_t>(cause);
  const std::size_t steps = study.job.graph.steps.size();
  AgainstPeers sums;
  for (const std::uint32_t rank : late.ranks) {
    Seconds beyond;
    for (std::size_t step = 0; step < steps; ++step) {
      const std::size_t place = step * study.peers.ranks + rank;
      const auto own = static_cast<double>(study.peers.own[place][part]) * 1_ns;
      const auto normal = static_cast<double>(study.peers.normal[place][part]) * 1_ns;
      sums.own += own / static_cast<double>(steps * late.ranks.size());
      sums.normal += normal / static_cast<double>(steps * late.ranks.size());
      beyond += std::max(0_s, own - normal) / static_cast<double>(steps);
    }
    sums.beyond += beyond;
    sums.longest_beyond = std::max(sums.longest_beyond, beyond);
  }
  return sums;
}

// A rank whose host launches late starts its communication late, too, and cannot hide behind
// compute what its peers hide: at most what of its own transfers stands alone, and at most what
// they hide more than it does.
Seconds lost_hiding(const Scene& scene, const RankStudy& study, const LateRanks& late) {
  std::vector<std::int64_t> hidden;
  for (const metrics::RankSummary& rank : scene.summary->ranks) {
    const metrics::RankTotals all = rank.total();
    hidden.push_back(all.time.overlap_ns / std::max<std::int64_t>(1, all.steps));
  }
  std::vector<std::int64_t> sorted = hidden;
  const std::int64_t normal = lower_median(sorted);
  Seconds lost;
  for (const std::uint32_t rank : late.ranks) {
    const metrics::RankTotals all = scene.summary->ranks[rank].total();
    const std::int64_t alone =
        (all.time.exposed_communication_ns - study.arrivals.ranks[rank].waiting_ns) /
        std::max<std::int64_t>(1, all.steps);
    lost += static_cast<double>(std::max<std::int64_t>(0, std::min(alone, normal - hidden[rank]))) *
            1_ns;
  }
  return lost;
}

// At most what these ranks took beyond their peers; of several, who may have been late at once, no
// more than all lateness of the job costs, or the latest of them alone. A replay without theirs
// shows what goes at least.
Seconds ceiling_of(const Scene& scene, const RankStudy& study, const LateRanks& late,
                   const AgainstPeers& sums, LateCause cause, Seconds saved) {
  const Seconds all_lateness = study.job.actual - without_any_lateness(study);
  Seconds most = late.ranks.size() == 1
                     ? sums.beyond
                     : std::min(sums.beyond, std::max(sums.longest_beyond, all_lateness));
  most += cause == LateCause::kHost ? lost_hiding(scene, study, late) : 0_s;
  return std::min(std::max(saved, most), study.job.actual);
}

std::string cause_of(const Scene& scene, const RankStudy& study, const LateRanks& late,
                     const LateRule& rule, const AgainstPeers& sums, Seconds saved) {
  std::string who = rank_words(*scene.summary, late.ranks);
  who[0] = 'R';
  const double share =
      100.0 * static_cast<double>(late.waiting_ns) / static_cast<double>(late.of_all_ns);
  const bool is_one = late.ranks.size() == 1;
  std::string text = fmt::format(
      "{} {} late where ranks meet, because {} ({} a step against {} of {} peers): {:.0f} % of the "
      "waiting that goes back to any rank",
      who, is_one ? "comes" : "come", rule.sentence, to_text(sums.own), to_text(sums.normal),
      is_one ? "its" : "their", share);
  if (!study.meetings.shares_clock) {
    const double steps = static_cast<double>(scene.summary->ranks.front().total().steps);
    text += fmt::format(
        "; transfers themselves take {} a step",
        to_text(static_cast<double>(study.arrivals.transfer_ns) / std::max(1.0, steps) * 1_ns));
  }
  // What goes at least; the finding's seconds are what goes at most.
  return text + fmt::format(
                    ". Replayed without that, in the recorded order, the step is {} shorter. "
                    "Slowdown S {:.2f}: the step as replayed over one in which all work takes "
                    "its mean",
                    to_text(saved), study.job.slowdown());
}

}  // namespace

void add_late_ranks(const Scene& scene, const RankStudy& study, Findings& findings) {
  for (const LateRule& rule : kLateRules) {
    const LateRanks late = late_ranks(study, rule.cause);
    if (late.ranks.empty() ||
        (rule.cause == LateCause::kCompute && is_whole_stage(study, late.ranks))) {
      continue;
    }
    const Seconds saved = study.job.actual - without_lateness(study, late.ranks, rule.cause);
    if (of_recorded_step(scene, study, saved) < kWorthSaying * scene.step) {
      continue;
    }
    const AgainstPeers sums = against_peers(study, late, rule.cause);
    const bool is_idle = rule.part == StepPart::kIdle;
    if (is_idle && sums.own < kAsMuchAgain * sums.normal) {
      continue;
    }
    const Seconds lost =
        of_recorded_step(scene, study, ceiling_of(scene, study, late, sums, rule.cause, saved));
    Finding finding;
    finding.rule = rule.rule;
    finding.cause = cause_of(scene, study, late, rule, sums, of_recorded_step(scene, study, saved));
    finding.ranks = rank_ids(*scene.summary, late.ranks);
    finding.per_step = lost;
    finding.parts = parts_of_loss(scene, lost, late.ranks.size(), rule.part);
    finding.status = Status::kVerified;
    add_arrivals(study, late, finding);
    findings.found.push_back(std::move(finding));
  }
}

}  // namespace sextant::diagnose
