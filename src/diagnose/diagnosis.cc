#include "diagnose/diagnosis.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "diagnose/communication_rules.h"
#include "diagnose/host_rules.h"
#include "diagnose/imbalance_rules.h"
#include "diagnose/precedence.h"
#include "diagnose/rank_rules.h"

namespace sextant::diagnose {
namespace {

void add(Findings&& family, Diagnosis& diagnosis) {
  std::ranges::move(family.found, std::back_inserter(diagnosis.findings));
  std::ranges::move(family.abstained, std::back_inserter(diagnosis.abstentions));
  std::ranges::move(family.notes, std::back_inserter(diagnosis.notes));
}

// Worth most first; what another finding explains after all others; of equals by rule.
bool comes_before(const Finding& a, const Finding& b) {
  return std::tuple(a.explained_by.has_value(), -(a.per_step / 1_s), a.rule) <
         std::tuple(b.explained_by.has_value(), -(b.per_step / 1_s), b.rule);
}

}  // namespace

Diagnosis diagnosis_of(const Scene& scene) {
  Diagnosis diagnosis{.step = scene.step,
                      .parts = scene.parts,
                      .findings = {},
                      .abstentions = {},
                      .notes = {},
                      .ceiling = {}};
  // Families of rules, each in files of its own.
  const CommunicationTimes communication = communication_times(scene);
  add(exposed_communication(scene, communication), diagnosis);
  add(uneven_work(scene, communication), diagnosis);
  add(rank_findings(scene), diagnosis);
  add(host_findings(scene), diagnosis);
  explain(diagnosis.findings);
  std::ranges::stable_sort(diagnosis.findings, comes_before);
  std::ranges::stable_sort(diagnosis.abstentions, {}, &Abstention::rule);
  diagnosis.ceiling = total_ceiling(diagnosis.findings, diagnosis.parts);
  return diagnosis;
}

}  // namespace sextant::diagnose
