#include "diagnose/communication_rules.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"

namespace sextant::diagnose {
namespace {

struct AxisRule {
  Axis axis;
  std::string_view rule;
  std::string_view name;
};
constexpr std::array<AxisRule, step::kAxes> kAxisRules{
    {{Axis::kTensor, "exposed-tp", "tensor-parallel"},
     {Axis::kData, "exposed-dp", "data-parallel"},
     {Axis::kPipeline, "exposed-pp", "pipeline"},
     {Axis::kExpert, "exposed-ep", "expert-parallel"},
     {Axis::kContext, "exposed-cp", "context-parallel"}}};

constexpr std::array<std::string_view, 6> kOpNames{"all-reduces", "all-gathers", "reduce-scatters",
                                                   "all-to-alls", "messages",    "broadcasts"};

std::string operations(const AxisExposure& exposure) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kOpNames.size(); ++i) {
    if (exposure.ops[i]) {
      names.push_back(kOpNames[i]);
    }
  }
  return names.empty() ? "communication" : fmt::format("{}", fmt::join(names, ", "));
}

bool has(const AxisExposure& exposure, CollectiveOp op) {
  return exposure.ops[static_cast<std::size_t>(op)];
}

// What of the book's advice fits what the job does: no flags of DDP for what gathers parameters, no
// rings for all-to-alls.
std::vector<std::string> advice_for(Axis axis, const AxisExposure& exposure) {
  const bool gathers = has(exposure, CollectiveOp::kAllGather);
  const bool reduces = has(exposure, CollectiveOp::kAllReduce);
  switch (axis) {
    case Axis::kTensor:
      return reduces && !gathers ? std::vector<std::string>{"sequence", "overlap", "smaller"}
                                 : std::vector<std::string>{"overlap", "smaller"};
    case Axis::kData:
      return gathers ? std::vector<std::string>{"prefetch", "overlap", "hybrid", "accumulate"}
                     : std::vector<std::string>{"buckets", "accumulate"};
    case Axis::kPipeline:
      return {"overlap", "interleave-less", "placement"};
    case Axis::kExpert:
      return {"overlap", "dispatcher", "placement"};
    case Axis::kContext:
      return has(exposure, CollectiveOp::kAllToAll) || gathers
                 ? std::vector<std::string>{"smaller", "hierarchy"}
                 : std::vector<std::string>{"overlap", "hierarchy", "smaller"};
  }
  return {};
}

std::vector<Evidence> exposed_evidence(const Scene& scene, const AxisExposure& exposure,
                                       std::string_view name) {
  std::vector<Evidence> evidence;
  for (const ExposedInstance& one : exposure.longest) {
    const metrics::RankSummary& rank = scene.summary->ranks[one.rank];
    const metrics::CollectiveInstance& instance = rank.instances[one.instance];
    evidence.push_back({rank.rank,
                        {instance.start_ns, instance.end_ns},
                        fmt::format("{} communication, {} of it transfer that nothing hides", name,
                                    to_text(static_cast<double>(one.exposed_ns) * 1_ns))});
  }
  return evidence;
}

// How much shorter a step becomes for what each microbatch becomes shorter by: stages wait for one
// another in proportion.
double pipeline_factor(const Scene& scene, const CommunicationTimes& times) {
  const Seconds waiting = times[Axis::kPipeline].mean_waiting();
  return waiting < scene.step ? scene.step / (scene.step - waiting) : 1.0;
}

// Alone: waiting for peers can't be told from transfer.
bool is_of_one_rank(const Scene& scene) {
  return scene.summary->ranks.size() == 1;
}

Finding exposed_finding(const Scene& scene, const CommunicationTimes& times, const AxisRule& row) {
  const AxisExposure& exposure = times[row.axis];
  Finding finding;
  finding.rule = row.rule;
  const Seconds hideable = exposure.hideable;
  finding.per_step =
      std::min(hideable * (row.axis == Axis::kData ? 1.0 : pipeline_factor(scene, times)),
               scene.parts[static_cast<std::size_t>(StepPart::kExposedCommunication)]);
  finding.parts[static_cast<std::size_t>(StepPart::kExposedCommunication)] = finding.per_step;
  finding.cause = fmt::format(
      "{} communication ({}) stands alone for {} of a step of {}: nothing computes beside it{}",
      row.name, operations(exposure), to_text(hideable), to_text(scene.step),
      is_of_one_rank(scene) ? "; one rank alone can't tell its transfer from waiting for peers"
                            : ", waiting for late ranks not counted");
  finding.status = exposure.is_said && exposure.is_matched ? Status::kVerified : Status::kInferred;
  finding.evidence = exposed_evidence(scene, exposure, row.name);
  finding.advice = advice_for(row.axis, exposure);
  return finding;
}

}  // namespace

Findings exposed_communication(const Scene& scene, const CommunicationTimes& times) {
  Findings findings;
  // A rank of CPUs communicates with the cores that it computes with: hiding one behind the other
  // frees nothing that can be told from here.
  if (std::ranges::none_of(scene.summary->ranks, &metrics::RankSummary::has_device)) {
    return findings;
  }
  const bool is_unknown = times.unknown.hideable >= scene.step * kWorthNaming;
  for (const AxisRule& row : kAxisRules) {
    const AxisExposure& exposure = times[row.axis];
    if (exposure.is_seen && exposure.hideable >= scene.step * kWorthNaming) {
      findings.found.push_back(exposed_finding(scene, times, row));
    } else if (is_unknown && !exposure.is_seen) {
      findings.abstained.push_back({std::string(row.rule), "what the process groups are for"});
    }
  }
  return findings;
}

}  // namespace sextant::diagnose
