#include "diagnose/diagnosis.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "diagnose/communication_rules.h"
#include "diagnose/device_rules.h"
#include "diagnose/fabric.h"
#include "diagnose/host_rules.h"
#include "diagnose/imbalance_rules.h"
#include "diagnose/laid_over.h"
#include "diagnose/precedence.h"
#include "diagnose/rank_rules.h"

namespace sextant::diagnose {
namespace {

void add(Findings&& family, Diagnosis& diagnosis) {
  std::ranges::move(family.found, std::back_inserter(diagnosis.findings));
  std::ranges::move(family.abstained, std::back_inserter(diagnosis.abstentions));
  std::ranges::move(family.notes, std::back_inserter(diagnosis.notes));
}

// The device waits for its host before work that need not be there at all: that time is the
// finding's that says so, and no longer of those that say how slowly the host launches.
void leave_idle_to_its_cause(std::vector<Finding>& findings) {
  constexpr std::array<std::string_view, 3> kSpared{"needless-recompute", "small-products",
                                                    "unfused-optimizer"};
  constexpr auto kIdlePart = static_cast<std::size_t>(StepPart::kIdle);
  const auto launches = std::ranges::find(findings, "launch-bound", &Finding::rule);
  if (launches == findings.end()) {
    return;
  }
  for (const Finding& other : findings) {
    const Seconds shared = std::min(other.parts[kIdlePart], launches->parts[kIdlePart]);
    if (std::ranges::find(kSpared, other.rule) == kSpared.end() || shared <= Seconds()) {
      continue;
    }
    launches->parts[kIdlePart] -= shared;
    launches->per_step -= shared;
    launches->cause +=
        fmt::format("; {:.3g} ms of it before work that {} would spare", shared / 1_ms, other.rule);
  }
}

// Of the rank that waits least for others where they meet.
Seconds least_waiting(const Scene& scene, const CommunicationTimes& times) {
  std::vector<Seconds> waits(scene.summary->ranks.size());
  const auto add_axis = [&](const AxisExposure& axis) {
    for (std::size_t rank = 0; rank < std::min(waits.size(), axis.ranks.size()); ++rank) {
      waits[rank] += axis.ranks[rank].waiting + axis.ranks[rank].late;
    }
  };
  add_axis(times.unknown);
  std::ranges::for_each(times.axes, add_axis);
  return waits.empty() ? Seconds() : std::ranges::min(waits);
}

// Of a mean rank: transfers that stand alone, in a run that hides some behind compute. Where hosts
// launch late they do so for want of the compute that would hide them.
Seconds unhidden(const Scene& scene, const CommunicationTimes& times) {
  Seconds alone;
  const auto add_axis = [&](const AxisExposure& axis) {
    for (const ExposedTime& rank : axis.ranks) {
      alone += rank.transfer / static_cast<double>(axis.ranks.size());
    }
  };
  add_axis(times.unknown);
  std::ranges::for_each(times.axes, add_axis);
  return std::min(alone, of_mean_step(scene, scene.totals.time.overlap_ns));
}

// What all hosts do, each does now a little sooner and now a little later, and ranks wait for
// whoever is last. Where nobody is late for a reason of its own, that waiting goes with the cause:
// at least what every rank waits; so may what no compute hides any more. At most as much again as
// the cause.
void add_waiting_of_all(const Scene& scene, const CommunicationTimes& times,
                        std::vector<Finding>& findings) {
  constexpr std::array<std::string_view, 3> kCommon{"input-bound", "launch-bound", "python-gc"};
  constexpr std::array<std::string_view, 9> kOwn{
      "late-rank",        "slow-worker",     "data-late-rank",
      "straggling-link",  "slow-collective", "stage-imbalance",
      "expert-imbalance", "pipeline-bubble", "sequence-imbalance"};
  const auto is_among = [](const auto& rules, const Finding& one) {
    return std::ranges::find(rules, one.rule) != rules.end();
  };
  Finding* common = nullptr;
  for (Finding& one : findings) {
    if (one.explained_by) {
      continue;
    }
    if (is_among(kOwn, one)) {
      return;
    }
    // Chance says which of ranks that all are at their limit stands idle, and which waits for it.
    const bool is_common = is_among(kCommon, one);
    common = is_common && (common == nullptr || one.per_step > common->per_step) ? &one : common;
  }
  if (common == nullptr || scene.summary->ranks.size() < 2) {
    return;
  }
  // What collections on one rank keep the others waiting is in their own finding.
  const Seconds waited = common->rule == "python-gc" ? Seconds() : least_waiting(scene, times);
  const Seconds more = std::min(
      {waited + unhidden(scene, times), common->per_step, 0.99 * scene.step - common->per_step});
  if (more > Seconds()) {
    common->per_step += more;
    common->parts[static_cast<std::size_t>(StepPart::kExposedCommunication)] += more;
  }
}

// Against the fabric, after ranks were held against one another: what those rules found themselves
// explains why it falls short.
void add_fabric(const Scene& scene, const FabricView* fabric, Diagnosis& diagnosis) {
  if (fabric == nullptr) {
    abstain_without_fabric(scene, diagnosis.findings, diagnosis.abstentions);
    return;
  }
  Findings answer = fabric_findings(scene, *fabric);
  for (Finding& finding : answer.found) {
    for (const std::string_view rule : {"slow-collective", "straggling-link"}) {
      if (std::ranges::find(diagnosis.findings, rule, &Finding::rule) != diagnosis.findings.end()) {
        finding.explained_by = rule;
      }
    }
  }
  std::erase_if(diagnosis.abstentions, [&](const Abstention& one) {
    return one.rule == "slow-collective" && !fabric->rows.empty();
  });
  add(std::move(answer), diagnosis);
}

// Worth most first; what another finding explains after all others; of equals by rule.
bool comes_before(const Finding& a, const Finding& b) {
  return std::tuple(a.explained_by.has_value(), -(a.per_step / 1_s), a.rule) <
         std::tuple(b.explained_by.has_value(), -(b.per_step / 1_s), b.rule);
}

}  // namespace

Diagnosis diagnosis_of(const Scene& scene, const LaidOver* laid, const FabricView* fabric) {
  Diagnosis diagnosis{.step = scene.step,
                      .parts = scene.parts,
                      .bottleneck = bottleneck_of(bottleneck_facts(scene)),
                      .findings = {},
                      .abstentions = {},
                      .notes = {},
                      .ceiling = {}};
  diagnosis.bottleneck = bottleneck_of(bottleneck_facts(scene));
  // Families of rules, each in files of its own.
  const CommunicationTimes communication = communication_times(scene);
  add(exposed_communication(scene, communication), diagnosis);
  add(uneven_work(scene, communication), diagnosis);
  add(rank_findings(scene), diagnosis);
  add(device_findings(scene), diagnosis);
  add(host_findings(scene), diagnosis);
  add_fabric(scene, fabric, diagnosis);
  leave_idle_to_its_cause(diagnosis.findings);
  explain(diagnosis.findings);
  add_waiting_of_all(scene, communication, diagnosis.findings);
  if (laid != nullptr) {
    add(departure_findings(scene, *laid, diagnosis.findings), diagnosis);
  }
  std::ranges::stable_sort(diagnosis.findings, comes_before);
  std::ranges::stable_sort(diagnosis.abstentions, {}, &Abstention::rule);
  diagnosis.ceiling = total_ceiling(diagnosis.findings, diagnosis.parts);
  return diagnosis;
}

}  // namespace sextant::diagnose
