#include "agents/case_analysis.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/bottleneck.h"

namespace sextant::agents {
namespace {

using diagnose::Bottleneck;

constexpr std::size_t kTopOperators = 5;
constexpr std::string_view kFromCase = "the case file";

std::string case_percent(double share) {
  return fmt::format("{:.2f} %", 100.0 * share);
}

std::string known_count(const std::optional<std::int64_t>& count) {
  return count ? fmt::format("{}", *count) : std::string();
}

Fact told_fact(std::string key, std::string value) {
  std::string source = value.empty() ? std::string() : std::string(kFromCase);
  return {std::move(key), std::move(value), std::move(source)};
}

std::vector<Fact> facts_of(const Case& profiled) {
  std::vector<Fact> facts{
      told_fact("device", profiled.device),
      told_fact("chips", fmt::format("{}", profiled.chips)),
      told_fact("topology", profiled.topology ? to_text(*profiled.topology) : std::string()),
      told_fact("kind", profiled.kind),
      told_fact("model", profiled.model),
      told_fact("batch", known_count(profiled.batch)),
      told_fact("sequence length", known_count(profiled.sequence_length)),
      told_fact("mesh", profiled.baseline ? to_text(*profiled.baseline) : std::string())};
  if (profiled.profiled) {
    const ProfiledOn& on = *profiled.profiled;
    facts.push_back(told_fact(
        "profiled on", fmt::format("{} chips of {}{} as {}", on.chips, on.device,
                                   on.topology ? " (" + to_text(*on.topology) + ")" : std::string(),
                                   to_text(on.mesh))));
  }
  // Cloud TPU names of these generations count TensorCores, two a chip.
  for (const auto& [device, word] : {std::pair{"tpu-v5p", "v5p"}, std::pair{"tpu-v4", "v4"}}) {
    if (profiled.device == device) {
      facts.push_back(
          {"name of the slice",
           fmt::format("{}-{}: it counts TensorCores, two a chip ({}-{} is {} chips)", word,
                       2 * profiled.chips, word, profiled.chips, profiled.chips / 2),
           "the chips"});
    }
  }
  return facts;
}

std::vector<Kpi> kpis_of(const CaseKpis& told) {
  const auto milliseconds = [](const std::optional<Seconds>& time) {
    return time ? std::optional(time->base() * 1e3) : std::nullopt;
  };
  return {{"step_time_ms", milliseconds(told.step), ""},
          {"busy_time_ms", milliseconds(told.busy), ""},
          {"duty_cycle", told.duty_cycle, "waiting inside a collective counts as busy"},
          {"communication_share", told.communication_share,
           "standard all-reduce alone: custom, fused and ragged collectives are not in it"},
          {"mean_all_reduce_us",
           told.mean_all_reduce ? std::optional(told.mean_all_reduce->base() * 1e6) : std::nullopt,
           ""}};
}

std::vector<TopOperator> operators_of(const Case& profiled) {
  std::vector<TopOperator> operators;
  for (const CaseOperator& one : profiled.operators) {
    operators.push_back({.name = one.name,
                         .category = one.category,
                         .share = one.share,
                         .bound = one.bound,
                         .efficiency = one.efficiency,
                         .is_collective = diagnose::names_collective(one.name, one.category)});
  }
  std::ranges::stable_sort(operators, std::greater<>(), &TopOperator::share);
  return operators;
}

// By the key figures alone: what is not idle and not the standard all-reduce computes.
Hypothesis first_hypothesis(const CaseKpis& told) {
  diagnose::BottleneckFacts facts;
  facts.duty_cycle = told.duty_cycle.value_or(1.0);
  facts.exposed = told.communication_share.value_or(0.0);
  const diagnose::BottleneckClass found = diagnose::bottleneck_of(facts);
  return {found.bottleneck, told.duty_cycle ? found.reason : "no duty cycle is told"};
}

Hypothesis settled_hypothesis(const Case& profiled, const std::vector<TopOperator>& operators) {
  // Standard all-reduce alone takes most of the step: then it holds the run up, whatever the rest.
  constexpr double kMost = 0.5;
  diagnose::BottleneckFacts facts;
  facts.duty_cycle = profiled.kpis.duty_cycle.value_or(1.0);
  if (profiled.kpis.communication_share.value_or(0.0) > kMost) {
    facts.exposed = profiled.kpis.communication_share;
  }
  for (const TopOperator& one : operators) {
    facts.operators.push_back({.name = one.name,
                               .share = one.share,
                               .bound = one.bound,
                               .efficiency = one.efficiency,
                               .is_collective = one.is_collective});
  }
  const diagnose::BottleneckClass found = diagnose::bottleneck_of(facts);
  return {found.bottleneck, found.reason};
}

kb::Theme theme_of(Traffic traffic) {
  switch (traffic) {
    case Traffic::kTensor:
      return kb::Theme::kTensor;
    case Traffic::kSequence:
      return kb::Theme::kContext;
    case Traffic::kGradients:
    case Traffic::kWeights:
      return kb::Theme::kData;
  }
  return kb::Theme::kData;
}

std::string blame_sentence(const Blame& blame, const CaseMesh& mesh) {
  const std::string axes = blame.traffic == Traffic::kTensor
                               ? fmt::format("model={}", mesh[CaseAxis::kModel])
                           : blame.traffic == Traffic::kSequence
                               ? fmt::format("seq={}", mesh[CaseAxis::kSeq])
                               : fmt::format("weights on model={}", mesh[CaseAxis::kModel]);
  return fmt::format("{} ({}): {} of the told operators' time, in {}",
                     describe::word_of<Traffic>(kTrafficWords, blame.traffic), axes,
                     case_percent(blame.share), join(blame.operators, ", "));
}

std::string root_cause_of(const Blames& blames, const CaseMesh& mesh, Bottleneck bottleneck) {
  if (blames.by_share.empty()) {
    return bottleneck == Bottleneck::kStall
               ? "no told operator waits for an axis of the mesh: what the device idles for is not "
                 "in this report"
               : "no told operator waits for an axis of the mesh";
  }
  return "most is waited for " + blame_sentence(blames.by_share.front(), mesh);
}

}  // namespace

std::optional<CaseMesh> recorded_mesh(const Case& profiled) {
  return profiled.profiled ? std::optional(profiled.profiled->mesh) : profiled.baseline;
}

CaseAnalysis analysed_case(const Case& profiled, const MeshSlice& ran_on) {
  CaseAnalysis result;
  Analysis& analysis = result.analysis;
  analysis.experiment = facts_of(profiled);
  if (!ran_on.is_topology_told) {
    analysis.experiment.push_back({"shape of the slice", to_text(ran_on.topology),
                                   "assumed: the most even one of that many chips"});
  }
  analysis.kpis = kpis_of(profiled.kpis);
  analysis.operators = operators_of(profiled);
  analysis.initial = first_hypothesis(profiled.kpis);
  analysis.settled = settled_hypothesis(profiled, analysis.operators);
  if (analysis.initial.bottleneck != analysis.settled.bottleneck) {
    analysis.overturned = analysis.settled.why;
  }
  analysis.operators.resize(std::min(analysis.operators.size(), kTopOperators));
  const CaseMesh mesh = recorded_mesh(profiled).value_or(CaseMesh{});
  result.blames = blames_of({.profiled = profiled,
                             .mesh = mesh,
                             .bottleneck = analysis.settled.bottleneck,
                             .hidden_block = ran_on.hidden_block});
  for (const Blame& blame : result.blames.by_share) {
    analysis.correlation.push_back(blame_sentence(blame, mesh));
    const kb::Theme theme = theme_of(blame.traffic);
    if (std::ranges::find(analysis.axes, theme) == analysis.axes.end()) {
      analysis.axes.push_back(theme);
    }
  }
  analysis.correlation.insert(analysis.correlation.end(), result.blames.remarks.begin(),
                              result.blames.remarks.end());
  analysis.root_cause = root_cause_of(result.blames, mesh, analysis.settled.bottleneck);
  return result;
}

}  // namespace sextant::agents
