#include "diagnose/host_rules.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "diagnose/host_losses.h"
#include "diagnose/host_words.h"

namespace sextant::diagnose {
namespace {

// Steps of a healthy run differ by about this much from one another: less can't be told from that.
constexpr double kLeastLossShare = 0.01;

struct RankLoss {
  const metrics::RankSummary* rank = nullptr;
  HostLosses losses;
  std::int64_t steps = 0;
  Seconds step;

  [[nodiscard]] Seconds of_step(std::int64_t total_ns) const {
    return static_cast<double>(total_ns) / static_cast<double>(steps) * 1_ns;
  }
};

std::vector<RankLoss> losses_of(const Scene& scene) {
  std::vector<RankLoss> ranks;
  for (const metrics::RankSummary& rank : scene.summary->ranks) {
    const metrics::RankTotals total = rank.total();
    if (total.steps == 0) {
      continue;
    }
    RankLoss one{.rank = &rank,
                 .losses = host_losses(rank, scene.device_memory),
                 .steps = total.steps,
                 .step = {}};
    one.step = one.of_step(total.time.total_ns());
    ranks.push_back(std::move(one));
  }
  return ranks;
}

const RankLoss& worst_of(const std::vector<RankLoss>& ranks, HostRule rule) {
  return *std::ranges::max_element(ranks, {}, [&](const RankLoss& rank) {
    return rank.of_step(rank.losses.of(rule).total_ns()) / 1_s;
  });
}

std::vector<RankId> ranks_that_lose(const std::vector<RankLoss>& ranks, HostRule rule,
                                    Seconds most) {
  std::vector<RankId> lose;
  for (const RankLoss& rank : ranks) {
    if (2.0 * rank.of_step(rank.losses.of(rule).total_ns()) >= most) {
      lose.push_back(rank.rank->rank);
    }
  }
  return lose.size() == ranks.size() ? std::vector<RankId>() : lose;
}

HostFigures figures_of(const RankLoss& rank, HostRule rule) {
  const HostLoss& loss = rank.losses.of(rule);
  const auto per_step = [&](std::int64_t count) {
    return static_cast<double>(count) / static_cast<double>(rank.steps);
  };
  HostFigures figures{
      .lost = rank.of_step(loss.total_ns()),
      .share = rank.of_step(loss.total_ns()) / rank.step,
      .stalls = per_step(loss.stalls),
      .stall = rank.of_step(loss.stall_ns),
      .copied = Bytes(per_step(loss.bytes)),
      .what = loss.what,
      .waits = rank.rank->has_device ? "the device" : "the rank",
      .status = loss.status,
      .launches = 0.0,
      .in_update = std::min(rank.of_step(loss.in_update_ns), rank.of_step(loss.total_ns())),
      .kernel = {},
      .recorded = rank.of_step(rank.losses.recorded_ns),
      .tried = rank.of_step(loss.work_ns),
      .step = rank.step};
  figures.launches = per_step(rank.rank->total().launches.call.count);
  std::int64_t kernels = 0;
  std::int64_t kernel_ns = 0;
  for (const metrics::KernelRow& row : rank.rank->kernels) {
    kernels += row.time.count;
    kernel_ns += row.time.total_ns;
  }
  figures.kernel = kernels == 0
                       ? Seconds()
                       : static_cast<double>(kernel_ns) / static_cast<double>(kernels) * 1_ns;
  return figures;
}

// What a rank loses to it a step, no more than it idled, communicated and copied alone: a summary
// may lie.
struct LostTime {
  Seconds idle;
  Seconds communication;  // that nothing waited for, since nothing was launched
  Seconds copied;
  Seconds worked;
  [[nodiscard]] Seconds total() const { return idle + communication + copied + worked; }
};
LostTime lost_of(const RankLoss& rank, HostRule rule) {
  const HostLoss& loss = rank.losses.of(rule);
  const metrics::Breakdown time = rank.rank->total().time;
  const std::int64_t idle = std::min(loss.idle_ns, time.idle_ns);
  return {
      .idle = rank.of_step(idle),
      .communication = rank.of_step(std::min(loss.idle_ns - idle, time.exposed_communication_ns)),
      .copied = rank.of_step(std::min(loss.copy_ns, time.exposed_copy_ns)),
      .worked = rank.of_step(std::min(loss.work_ns, time.compute_ns))};
}

// What the job loses to it: as much as the rank that loses most. Collections come to each rank at
// moments of its own, and the others wait for each in their communication.
LostTime lost_to(const std::vector<RankLoss>& ranks, HostRule rule, const RankLoss& worst) {
  LostTime lost = lost_of(worst, rule);
  if (rule == HostRule::kCollection) {
    for (const RankLoss& rank : ranks) {
      lost.communication += &rank == &worst ? Seconds() : lost_of(rank, rule).total();
    }
  }
  return lost;
}

// Where most late launches are the optimizer's, it is mended first.
std::vector<std::string> advice_of(HostRule rule, const HostLoss& loss) {
  if (rule != HostRule::kLaunch) {
    return {};
  }
  return 2 * loss.in_update_ns > loss.total_ns()
             ? std::vector<std::string>{"optimizer", "graph", "compile"}
             : std::vector<std::string>{"graph", "compile", "batch"};
}

std::optional<Finding> finding_of(const std::vector<RankLoss>& ranks, HostRule rule) {
  const RankLoss& worst = worst_of(ranks, rule);
  const HostLoss& loss = worst.losses.of(rule);
  const LostTime time = lost_to(ranks, rule, worst);
  const Seconds lost = time.total();
  if (lost < kLeastLossShare * worst.step || !(lost < worst.step)) {
    return std::nullopt;
  }
  Finding finding{.rule = std::string(rule_id(rule)),
                  .cause = host_sentence(rule, figures_of(worst, rule)),
                  .ranks = ranks_that_lose(ranks, rule, lost_of(worst, rule).total()),
                  .per_step = lost,
                  .parts = {},
                  .status = loss.status,
                  .evidence = loss.evidence,
                  .advice = advice_of(rule, loss)};
  finding.parts[static_cast<std::size_t>(StepPart::kExposedCommunication)] = time.communication;
  finding.parts[static_cast<std::size_t>(StepPart::kExposedCopy)] = time.copied;
  finding.parts[static_cast<std::size_t>(StepPart::kCompute)] = time.worked;
  finding.parts[static_cast<std::size_t>(StepPart::kIdle)] = time.idle;
  // How fast the host launches is not known where the recorder slows it.
  if (rule == HostRule::kLaunch && worst.losses.is_launching_recorded) {
    finding.explained_by = rule_id(HostRule::kRecorder);
  }
  return finding;
}

bool any(const std::vector<RankLoss>& ranks, bool (*holds)(const RankLoss&)) {
  return std::ranges::any_of(ranks, holds);
}

std::string missing(HostRule rule) {
  return std::string(rule_id(rule));
}

// What the profile does not hold, where it matters: its absence would be no answer.
std::vector<Abstention> abstentions_of(const std::vector<RankLoss>& ranks) {
  std::vector<Abstention> abstained;
  const bool knows_collections = any(ranks, [](const RankLoss& rank) {
    return rank.rank->has_stacks || rank.losses.of(HostRule::kCollection).stalls > 0;
  });
  if (!knows_collections) {
    abstained.push_back({missing(HostRule::kCollection),
                         "collections of Python's garbage collector (record_python_gc_info or "
                         "with_stack)"});
  }
  if (!any(ranks, [](const RankLoss& rank) { return rank.rank->has_memory; })) {
    abstained.push_back(
        {missing(HostRule::kMemoryLimit), "the allocator's memory (profile_memory=True)"});
  }
  return abstained;
}

// What a run without a profiler has none of, where that is worth a word.
std::optional<std::string> recording_note(const std::vector<RankLoss>& ranks) {
  const RankLoss& most = *std::ranges::max_element(
      ranks, {}, [](const RankLoss& rank) { return rank.of_step(rank.losses.recorded_ns) / 1_s; });
  const Seconds lost = most.of_step(most.losses.recorded_ns);
  if (most.losses.is_launching_recorded || lost < kLeastLossShare * most.step) {
    return std::nullopt;
  }
  return fmt::format(
      "recording each operator slows the host: the device is idle about {} a step ({:.1f} %) for "
      "that alone, which a run without a profiler is not; findings leave it out",
      to_text(lost), 100.0 * (lost / most.step));
}

}  // namespace

Findings host_findings(const Scene& scene) {
  Findings findings;
  const std::vector<RankLoss> ranks = losses_of(scene);
  if (ranks.empty()) {
    return findings;
  }
  for (std::size_t i = 0; i < kHostRules; ++i) {
    if (auto found = finding_of(ranks, static_cast<HostRule>(i))) {
      findings.found.push_back(std::move(*found));
    }
  }
  findings.abstained = abstentions_of(ranks);
  if (auto note = recording_note(ranks)) {
    findings.notes.push_back(*std::move(note));
  }
  std::erase_if(findings.abstained, [&](const Abstention& one) {
    return std::ranges::any_of(findings.found,
                               [&](const Finding& found) { return found.rule == one.rule; });
  });
  // What explains another must be said itself.
  for (Finding& finding : findings.found) {
    if (finding.explained_by && std::ranges::find(findings.found, *finding.explained_by,
                                                  &Finding::rule) == findings.found.end()) {
      finding.explained_by = std::nullopt;
    }
  }
  return findings;
}

}  // namespace sextant::diagnose
