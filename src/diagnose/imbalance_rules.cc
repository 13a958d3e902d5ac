#include "diagnose/imbalance_rules.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "diagnose/communication_rules.h"

namespace sextant::diagnose {
namespace {

using metrics::RankSummary;
using metrics::StepMeasures;
using metrics::WorkClass;

// Kernels of one shape vary by a percent or two on a healthy device, and their sum over a step by
// less; a twentieth is no noise.
constexpr double kNoNoise = 0.05;
// How many times as much as other work the uneven one must vary for it to be the cause: a slow
// device, or a throttled one, makes both vary alike.
constexpr double kMoreThanOthers = 2.0;

double class_ns(const StepMeasures& step, WorkClass which) {
  return static_cast<double>(step.work_ns[static_cast<std::size_t>(which)]);
}

// Work of one class: of each rank, step by step; steps that all the ranks have.
struct WorkTable {
  std::vector<std::uint32_t> ranks;          // places in Summary::ranks
  std::vector<std::int64_t> numbers;         // of the steps
  std::vector<std::vector<double>> by_step;  // [step][rank], ns
  [[nodiscard]] double mean() const;
  // How far ranks are apart in a step: the longest less the mean, mean of steps.
  [[nodiscard]] double excess() const;
  // How far a rank's steps are from its mean, root mean square over all.
  [[nodiscard]] double variation() const;
};

double WorkTable::mean() const {
  double sum = 0.0;
  for (const std::vector<double>& step : by_step) {
    for (const double one : step) {
      sum += one;
    }
  }
  const double count = static_cast<double>(by_step.size() * ranks.size());
  return count > 0.0 ? sum / count : 0.0;
}

double WorkTable::excess() const {
  double sum = 0.0;
  for (const std::vector<double>& step : by_step) {
    double all = 0.0;
    for (const double one : step) {
      all += one;
    }
    sum += std::ranges::max(step) - all / static_cast<double>(step.size());
  }
  return by_step.empty() ? 0.0 : sum / static_cast<double>(by_step.size());
}

std::vector<double> means_of_ranks(const WorkTable& table) {
  std::vector<double> means(table.ranks.size());
  for (const std::vector<double>& step : table.by_step) {
    for (std::size_t i = 0; i < means.size(); ++i) {
      means[i] += step[i] / static_cast<double>(table.by_step.size());
    }
  }
  return means;
}

double WorkTable::variation() const {
  const std::vector<double> means = means_of_ranks(*this);
  double squares = 0.0;
  double freedom = 0.0;
  for (const std::vector<double>& step : by_step) {
    for (std::size_t i = 0; i < means.size(); ++i) {
      squares += (step[i] - means[i]) * (step[i] - means[i]);
    }
  }
  freedom = static_cast<double>(ranks.size()) * (static_cast<double>(by_step.size()) - 1.0);
  return freedom > 0.0 ? std::sqrt(squares / freedom) : 0.0;
}

WorkTable table_of(const Scene& scene, const std::vector<std::uint32_t>& ranks,
                   const std::vector<WorkClass>& classes) {
  std::map<std::int64_t, std::vector<double>> by_number;
  for (const std::uint32_t place : ranks) {
    for (const StepMeasures& step : scene.summary->ranks[place].steps) {
      double sum = 0.0;
      for (const WorkClass which : classes) {
        sum += class_ns(step, which);
      }
      by_number[step.number].push_back(sum);
    }
  }
  WorkTable table{.ranks = ranks, .numbers = {}, .by_step = {}};
  for (auto& [number, times] : by_number) {
    if (times.size() == ranks.size()) {
      table.numbers.push_back(number);
      table.by_step.push_back(std::move(times));
    }
  }
  return table;
}

// Ranks that share a group of the axis, groups in order; those of one rank are left out. Without
// such groups: all ranks together.
std::vector<std::vector<std::uint32_t>> groups_of(const Scene& scene, Axis axis) {
  std::map<std::vector<RankId>, std::vector<std::uint32_t>> groups;
  for (std::size_t i = 0; i < scene.summary->ranks.size(); ++i) {
    const RankSummary& rank = scene.summary->ranks[i];
    const RankAxes axes = rank_axes(rank);
    for (std::size_t k = 0; k < rank.groups.size(); ++k) {
      const std::vector<RankId>& ranks = rank.groups[k].ranks;
      if (axes.groups[k].axis == axis && std::ranges::find(ranks, rank.rank) != ranks.end()) {
        groups[ranks].push_back(static_cast<std::uint32_t>(i));
      }
    }
  }
  std::vector<std::vector<std::uint32_t>> found;
  for (auto& [ranks, places] : groups) {
    std::ranges::sort(places);
    const auto [from, to] = std::ranges::unique(places);
    places.erase(from, to);
    if (places.size() > 1) {
      found.push_back(places);
    }
  }
  return found;
}

// Mean of what they wait for one another, with the transfers that only then stand alone.
Seconds waiting_of(const CommunicationTimes& times, const std::vector<std::uint32_t>& ranks) {
  Seconds sum;
  const auto add = [&](const AxisExposure& exposure) {
    for (const std::uint32_t rank : ranks) {
      sum += exposure.ranks[rank].waiting + exposure.ranks[rank].late;
    }
  };
  for (const AxisExposure& axis : times.axes) {
    add(axis);
  }
  add(times.unknown);
  return sum / static_cast<double>(ranks.size());
}

// The step in which it takes that rank longest.
Evidence longest_step(const Scene& scene, const WorkTable& table, std::string_view what,
                      std::size_t rank) {
  const RankSummary& summary = scene.summary->ranks[table.ranks[rank]];
  std::size_t longest = 0;
  for (std::size_t i = 1; i < table.by_step.size(); ++i) {
    longest = table.by_step[i][rank] > table.by_step[longest][rank] ? i : longest;
  }
  const auto step = std::ranges::find(summary.steps, table.numbers[longest], &StepMeasures::number);
  return {summary.rank, step->window,
          fmt::format("{} takes {} of step {}", what, to_text(table.by_step[longest][rank] * 1_ns),
                      step->number)};
}

void set_cost(const Scene& scene, Seconds cost, Finding& finding) {
  constexpr auto kPart = static_cast<std::size_t>(StepPart::kExposedCommunication);
  finding.per_step = std::min(cost, scene.parts[kPart]);
  finding.parts[kPart] = finding.per_step;
}

std::optional<Finding> uneven_lengths(const Scene& scene, const CommunicationTimes& times,
                                      const std::vector<std::uint32_t>& ranks) {
  const WorkTable attention = table_of(scene, ranks, {WorkClass::kAttention});
  const WorkTable others = table_of(scene, ranks, {WorkClass::kExperts, WorkClass::kOther});
  if (attention.mean() <= 0.0 || others.mean() <= 0.0 || attention.by_step.size() < 2) {
    return std::nullopt;
  }
  const double varies = attention.variation() / attention.mean();
  if (varies < kNoNoise || varies < kMoreThanOthers * others.variation() / others.mean()) {
    return std::nullopt;
  }
  Finding finding;
  finding.rule = "sequence-imbalance";
  set_cost(scene, waiting_of(times, ranks), finding);
  finding.cause = fmt::format(
      "attention of a rank varies by {:.0f} % from step to step and other work by {:.1f} %: in a "
      "step the longest attention of {} ranks is {} beyond their mean, and ranks wait {} for one "
      "another",
      100.0 * varies, 100.0 * others.variation() / others.mean(), ranks.size(),
      to_text(attention.excess() * 1_ns), to_text(finding.per_step));
  finding.status = Status::kInferred;  // lengths are not recorded
  for (std::size_t i = 0; i < std::min(ranks.size(), kMostEvidence); ++i) {
    finding.evidence.push_back(longest_step(scene, attention, "attention", i));
  }
  return finding;
}

// FLOPs of a rank's mean step, by the shapes of its operators; nothing where not all are known.
std::optional<double> flops_of(const RankSummary& rank) {
  double flops = 0.0;
  for (const metrics::OperatorRow& row : rank.operators) {
    flops += row.flops.value();
  }
  const std::int64_t steps = rank.total().steps;
  return rank.has_shapes && flops > 0.0 && steps > 0
             ? std::optional(flops / static_cast<double>(steps))
             : std::nullopt;
}

bool has_experts(const Scene& scene, const std::vector<std::uint32_t>& ranks) {
  return table_of(scene, ranks, {WorkClass::kExperts}).mean() > 0.0;
}

// Operators that say their FLOPs: how often a rank calls them.
std::int64_t counted_calls(const RankSummary& rank) {
  std::int64_t calls = 0;
  for (const metrics::OperatorRow& row : rank.operators) {
    calls += row.flops.value() > 0.0 ? row.time.count : 0;
  }
  return calls;
}

// Ranks of one data-parallel group have the same model: what one has to do more, with as many
// operators, is its share of the tokens. Shapes say so whatever their kernels took.
std::optional<Finding> uneven_shapes(const Scene& scene, const std::vector<std::uint32_t>& ranks) {
  const std::int64_t calls = counted_calls(scene.summary->ranks[ranks.front()]);
  if (std::ranges::any_of(ranks, [&](std::uint32_t rank) {
        return counted_calls(scene.summary->ranks[rank]) != calls;
      })) {
    return std::nullopt;
  }
  std::vector<double> flops;
  double mean = 0.0;
  for (const std::uint32_t rank : ranks) {
    const auto one = flops_of(scene.summary->ranks[rank]);
    if (!one) {
      return std::nullopt;
    }
    flops.push_back(*one);
    mean += *one / static_cast<double>(ranks.size());
  }
  const auto most = std::ranges::max_element(flops);
  if (*most < (1.0 + kNoNoise) * mean || has_experts(scene, ranks)) {
    return std::nullopt;
  }
  const RankSummary& longest =
      scene.summary->ranks[ranks[static_cast<std::size_t>(most - flops.begin())]];
  const metrics::RankTotals total = longest.total();
  const Seconds compute = static_cast<double>(total.time.compute_ns) /
                          static_cast<double>(std::max<std::int64_t>(1, total.steps)) * 1_ns;
  Finding finding;
  finding.rule = "sequence-imbalance";
  set_cost(scene, compute * (1.0 - mean / *most), finding);
  finding.ranks.push_back(longest.rank);
  finding.cause = fmt::format(
      "by the shapes of its operators rank {} has {:.2f} times the mean work of {} ranks, from "
      "{:.3g}"
      " to {:.3g} TFLOP a step, and takes {} of compute: the others wait for it",
      longest.rank.value, *most / mean, ranks.size(), std::ranges::min(flops) / 1e12, *most / 1e12,
      to_text(compute));
  finding.status = Status::kVerified;
  if (!longest.steps.empty()) {
    finding.evidence.push_back(
        {longest.rank, longest.steps.front().window, fmt::format("{:.3g} TFLOP", *most / 1e12)});
  }
  return finding;
}

std::optional<Finding> uneven_experts(const Scene& scene, const CommunicationTimes& times,
                                      const std::vector<std::uint32_t>& ranks) {
  const WorkTable experts = table_of(scene, ranks, {WorkClass::kExperts});
  const WorkTable others = table_of(scene, ranks, {WorkClass::kAttention, WorkClass::kOther});
  if (experts.mean() <= 0.0 || others.mean() <= 0.0 || experts.by_step.empty()) {
    return std::nullopt;
  }
  const double apart = experts.excess() / experts.mean();
  if (apart < kNoNoise || apart < kMoreThanOthers * others.excess() / others.mean()) {
    return std::nullopt;
  }
  const std::vector<double> means = means_of_ranks(experts);
  const auto most = std::ranges::max_element(means);
  const bool is_steady = *most - experts.mean() > experts.excess() / 2.0;
  Finding finding;
  finding.rule = "expert-imbalance";
  // The exchange waits for who has most to send and to take, and lasts as long as his part of it.
  set_cost(scene,
           std::max(waiting_of(times, ranks), experts.excess() * 1_ns) +
               times[Axis::kExpert].hideable * (apart / (1.0 + apart)),
           finding);
  const RankId rank =
      scene.summary->ranks[ranks[static_cast<std::size_t>(most - means.begin())]].rank;
  if (is_steady) {
    finding.ranks.push_back(rank);
  }
  finding.cause = fmt::format(
      "experts take {} {} a step longer than the mean of {} ranks ({:.0f} %), other work is {:.1f} "
      "% "
      "apart: ranks wait for one another",
      is_steady ? fmt::format("rank {}", rank.value) : std::string("now one rank, now another"),
      to_text(experts.excess() * 1_ns), ranks.size(), 100.0 * apart,
      100.0 * others.excess() / others.mean());
  finding.status = Status::kVerified;
  finding.evidence.push_back(
      longest_step(scene, experts, "experts", static_cast<std::size_t>(most - means.begin())));
  return finding;
}

// Where no profile says groups: all ranks, if they only reduce and gather. Who passes messages on
// or exchanges tokens has work of its own.
std::vector<std::vector<std::uint32_t>> replicas_of(const Scene& scene) {
  std::vector<std::uint32_t> all;
  for (std::size_t i = 0; i < scene.summary->ranks.size(); ++i) {
    const RankSummary& rank = scene.summary->ranks[i];
    const bool is_alike =
        std::ranges::all_of(rank.instances, [&](const metrics::CollectiveInstance& one) {
          const bool is_said =
              one.group < rank.groups.size() && !rank.groups[one.group].ranks.empty();
          return !is_said && one.op && *one.op != CollectiveOp::kSendReceive &&
                 *one.op != CollectiveOp::kAllToAll;
        });
    if (!is_alike || rank.instances.empty()) {
      return {};
    }
    all.push_back(static_cast<std::uint32_t>(i));
  }
  return {all};
}

template <typename Ask>
void add_worst(const std::vector<std::vector<std::uint32_t>>& groups, const Scene& scene,
               const Ask& ask, Findings& findings) {
  std::optional<Finding> worst;
  for (const std::vector<std::uint32_t>& ranks : groups) {
    std::optional<Finding> one = ask(ranks);
    if (one && (!worst || one->per_step > worst->per_step)) {
      worst = std::move(one);
    }
  }
  if (worst && worst->per_step >= scene.step * kWorthNaming) {
    findings.found.push_back(*std::move(worst));
  }
}

}  // namespace

Findings uneven_work(const Scene& scene, const CommunicationTimes& times) {
  Findings findings;
  if (scene.summary->ranks.size() < 2) {
    for (const char* rule : {"expert-imbalance", "sequence-imbalance"}) {
      findings.abstained.push_back({rule, "profiles of other ranks"});
    }
    return findings;
  }
  const auto groups = groups_of(scene, Axis::kData);
  add_worst(
      groups, scene,
      [&](const auto& ranks) {
        std::optional<Finding> shapes = uneven_shapes(scene, ranks);
        return shapes ? shapes : uneven_lengths(scene, times, ranks);
      },
      findings);
  if (groups.empty()) {
    add_worst(
        replicas_of(scene), scene, [&](const auto& ranks) { return uneven_shapes(scene, ranks); },
        findings);
  }
  add_worst(
      groups_of(scene, Axis::kExpert), scene,
      [&](const auto& ranks) { return uneven_experts(scene, times, ranks); }, findings);
  return findings;
}

}  // namespace sextant::diagnose
