#include "explain/estimate_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "describe/layout/layout_text.h"
#include "explain/json.h"
#include "explain/text_table.h"
#include "explain/work_view.h"

namespace sextant::explain {
namespace {

using cost::OperatorTime;
using cost::PhaseTime;
using cost::RankDetail;
using cost::StepPhase;
using sextant::to_text;

constexpr std::size_t kShownOperators = 5;

// An operator with what it takes in a whole step.
struct Ranked {
  const OperatorTime* one = nullptr;
  Seconds time;
  double times = 0.0;
  std::size_t place = 0;  // in the order of the step: which of equals comes first
};

std::vector<Ranked> longest_operators(const RankDetail& rank) {
  std::vector<Ranked> all;
  for (const auto& [phase, word] : cost::kStepPhaseWords) {
    for (const OperatorTime& one : rank.operators[static_cast<std::size_t>(phase)]) {
      all.push_back(
          {&one, one.total() * rank.times(phase), one.times * rank.times(phase), all.size()});
    }
  }
  std::sort(all.begin(), all.end(), [](const Ranked& a, const Ranked& b) {
    return a.time > b.time || (a.time == b.time && a.place < b.place);
  });
  all.resize(std::min(all.size(), kShownOperators));
  return all;
}

std::string_view part_word(const workload::Operator& op) {
  return describe::word_of<workload::Part>(workload::kPartWords, op.part);
}
std::string_view kind_word(const workload::Operator& op) {
  return describe::word_of<workload::OpKind>(workload::kOpKindWords, op.kind);
}
std::string_view pass_word(const workload::Operator& op) {
  return describe::word_of<workload::Pass>(workload::kPassWords, op.pass);
}
std::string_view format_word(describe::DType dtype) {
  return describe::word_of<describe::DType>(describe::kDTypeWords, dtype);
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100.0 * share);
}

Json phases_json(const RankDetail& rank) {
  Json json = Json::object();
  for (const auto& [phase, word] : cost::kStepPhaseWords) {
    const PhaseTime& time = rank.phase(phase);
    json[std::string(word)] = {{"times", rank.times(phase)},
                               {"device_time_s", time.device.base()},
                               {"host_time_s", time.host.base()},
                               {"bound", bound_word(cost::bound_of(time))},
                               {"kernels", time.kernels}};
  }
  return json;
}

Json operators_json(const RankDetail& rank) {
  Json list = Json::array();
  for (const Ranked& row : longest_operators(rank)) {
    list.push_back({{"part", part_word(row.one->op)},
                    {"kind", kind_word(row.one->op)},
                    {"pass", pass_word(row.one->op)},
                    {"shape", shape_text(row.one->op)},
                    {"format", format_word(row.one->op.dtype)},
                    {"count", row.times},
                    {"time_s", row.time.base()},
                    {"share", row.time / rank.step}});
  }
  return list;
}

std::string json_text(const EstimateAnswer& answer) {
  const RankDetail& rank = answer.estimate.rank;
  const cost::Utilisation& use = answer.estimate.use;
  Json json = document("estimate", answer.provenance);
  json["legal"] = true;
  json["layout"] = describe::to_text(answer.job.layout);
  json["framework"] =
      describe::word_of<describe::Framework>(describe::kFrameworkWords, answer.job.framework);
  json["pipeline_rank"] = rank.pipeline_rank;
  json["stages"] = rank.stages;
  json["microbatches"] = rank.microbatches;
  json["step_compute_time_s"] = rank.step.base();
  json["bound"] = bound_word(cost::bound_of(rank));
  json["phases"] = phases_json(rank);
  Json& parts = json["parts"] = Json::object();
  for (const NamedPart& named : kTimeParts) {
    parts[std::string(named.name) + "_s"] = (answer.estimate.parts.*named.part).base();
  }
  json["format"] = format_word(use.format);
  json["peak_TFLOPps"] = use.peak / 1_TFLOPps;
  json["model_flops"] = rank.model_flops.base();
  json["hardware_flops"] = rank.hardware_flops.base();
  json["utilisation"] = use.model;
  json["hardware_utilisation"] = use.hardware;
  json["longest_operators"] = operators_json(rank);
  json["left_out"] = left_out_of_estimates();
  json["assumed"] = answer.assumed;
  return dumped(json);
}

Table phases_table(const RankDetail& rank) {
  Table table{
      {{"phase"}, {"times", true}, {"device", true}, {"host", true}, {"bound"}, {"kernels", true}},
      {}};
  for (const auto& [phase, word] : cost::kStepPhaseWords) {
    const PhaseTime& time = rank.phase(phase);
    table.rows.push_back({std::string(word), fmt::format("{:.0f}", rank.times(phase)),
                          to_text(time.device), to_text(time.host),
                          std::string(bound_word(cost::bound_of(time))),
                          fmt::format("{:.0f}", time.kernels)});
  }
  return table;
}

Table parts_table(const Estimate& estimate) {
  Table table{{{"of the step"}, {"time", true}, {"share", true}}, {}};
  for (const NamedPart& named : kTimeParts) {
    const Seconds part = estimate.parts.*named.part;
    table.rows.push_back(
        {std::string(named.name), to_text(part), percent(part / estimate.rank.step)});
  }
  return table;
}

Table operators_table(const RankDetail& rank) {
  Table table{{{"longest operators"},
               {"pass"},
               {"count", true},
               {"shape"},
               {"format"},
               {"time", true},
               {"share", true}},
              {}};
  for (const Ranked& row : longest_operators(rank)) {
    table.rows.push_back({operator_name(row.one->op), std::string(pass_word(row.one->op)),
                          fmt::format("{:.6g}", row.times), shape_text(row.one->op),
                          std::string(format_word(row.one->op.dtype)), to_text(row.time),
                          percent(row.time / rank.step)});
  }
  return table;
}

std::string headline(const EstimateAnswer& answer, const Style& style) {
  const RankDetail& rank = answer.estimate.rank;
  const cost::Utilisation& use = answer.estimate.use;
  const std::string who = answer.job.layout.pp > 1
                              ? fmt::format("pipeline rank {}, the slowest,", rank.pipeline_rank)
                              : std::string("a rank");
  return fmt::format(
      "{}: {} computes {} microbatch{} in {} a step\n"
      "utilisation {} of {} in {} ({} with all that the hardware executes)\n",
      bold("compute only", style), who, rank.microbatches, rank.microbatches == 1 ? "" : "es",
      to_text(rank.step), percent(use.model), to_text(use.peak), format_word(use.format),
      percent(use.hardware));
}

}  // namespace

std::string_view left_out_of_estimates() {
  return "communication and pipeline bubbles are not modelled yet: a real step takes longer; "
         "whether it fits is not checked (sextant memory)";
}

std::string_view bound_word(cost::Bound bound) {
  return describe::word_of<cost::Bound>(cost::kBoundWords, bound);
}

std::string operator_name(const workload::Operator& op) {
  const std::string_view part = part_word(op);
  const std::string_view kind = kind_word(op);
  return part == kind ? std::string(part) : fmt::format("{} {}", part, kind);
}

std::string to_text(const EstimateAnswer& answer, const Style& style) {
  const RankDetail& rank = answer.estimate.rank;
  if (style.format == Format::kJson) {
    return json_text(answer);
  }
  if (style.format == Format::kCsv) {
    return to_text(phases_table(rank), style);
  }
  std::string text = headline(answer, style);
  text += "\n" + to_text(phases_table(rank), style);
  text += "\n" + to_text(parts_table(answer.estimate), style);
  text += "\n" + to_text(operators_table(rank), style);
  for (const std::string& assumed : answer.assumed) {
    text += dim("assumed: " + assumed, style) + "\n";
  }
  return text + dim(fmt::format("left out: {}", left_out_of_estimates()), style) + "\n";
}

}  // namespace sextant::explain
