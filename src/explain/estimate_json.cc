#include "explain/estimate_json.h"

#include "describe/layout/layout_text.h"
#include "explain/work_view.h"

namespace sextant::explain {
namespace {

using cost::PhaseTime;
using cost::RankDetail;

Json interval_json(const std::optional<describe::StepSpread>& interval) {
  return interval ? Json{{"class", interval->name},
                         {"low_ratio", interval->low},
                         {"high_ratio", interval->high},
                         {"rows", interval->rows},
                         {"source", interval->source}}
                  : Json(nullptr);
}

Json communication_json(const step::Estimate& result) {
  const Seconds step = result.step.step;
  Json json;
  json["overhead"] = result.overhead();
  json["exposed_s"] = result.step.exposed.total().base();
  json["hidden_s"] = result.step.hidden.total().base();
  Json& axes = json["axes"] = Json::object();
  for (const auto& [axis, word] : step::kAxisWords) {
    axes[std::string(word)] = {{"overhead", result.step.exposed[axis] / step},
                               {"exposed_s", result.step.exposed[axis].base()},
                               {"hidden_s", result.step.hidden[axis].base()}};
  }
  return json;
}

Json memory_json(const step::StepMemory& memory) {
  Json json;
  json["fits"] = memory.fits();
  json["tight"] = memory.tight();
  json["fit_odds"] = memory.odds;
  json["pipeline_rank"] = memory.fullest.pipeline_rank;
  json["allocated_bytes"] = memory.fullest.allocated.base();
  json["device_bytes"] = memory.fullest.device.base();
  json["available_bytes"] = memory.available.base();
  json["missing_bytes"] =
      memory.rejection ? Json(memory.rejection->missing().base()) : Json(nullptr);
  Json& changes = json["fitting_changes"] = Json::array();
  for (const cost::FittingChange& change : memory.changes) {
    changes.push_back({{"change", change.change},
                       {"needed_bytes", change.needed.base()},
                       {"fit_odds", change.odds},
                       {"step_time_s", change.step ? Json(change.step->base()) : Json(nullptr)}});
  }
  return json;
}

Json stages_json(const step::Estimate& result) {
  Json list = Json::array();
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    const workload::Stage& stage = result.stages[i];
    const step::StageCost& cost = result.step.stages[i];
    list.push_back({{"stage", stage.index},
                    {"pipeline_rank", stage.pipeline_rank},
                    {"first_layer", stage.first_layer},
                    {"layers", stage.layers},
                    {"forward_time_s", cost.forward.total().base()},
                    {"backward_time_s", cost.backward.total().base()},
                    {"forward_exposed_s", cost.forward.exposed.total().base()},
                    {"backward_exposed_s", cost.backward.exposed.total().base()},
                    {"send_forward_s", cost.send_forward.base()},
                    {"send_backward_s", cost.send_backward.base()}});
  }
  return list;
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
  for (const RankedOperator& row : longest_operators(rank)) {
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

Json estimated_training_json(const step::TrainingRun& run, const step::Estimate& result) {
  const double low = result.low() / result.step.step;
  const double high = result.high() / result.step.step;
  Json json;
  json["tokens"] = run.tokens;
  json["steps"] = run.steps;
  json["time_days"] = run.time / 1_days;
  json["time_low_days"] = run.time * low / 1_days;
  json["time_high_days"] = run.time * high / 1_days;
  json["device_hours"] = run.device_hours();
  json["device_hours_low"] = run.device_hours() * low;
  json["device_hours_high"] = run.device_hours() * high;
  if (run.price) {
    json["price_per_device_hour"] = *run.price;
    json["cost"] = run.device_hours() * *run.price;
    json["cost_low"] = run.device_hours() * *run.price * low;
    json["cost_high"] = run.device_hours() * *run.price * high;
  }
  return json;
}

}  // namespace

Json step_json(const step::Estimate& result) {
  Json json;
  json["step_time_s"] = result.step.step.base();
  json["step_time_low_s"] = result.interval ? Json(result.low().base()) : Json(nullptr);
  json["step_time_high_s"] = result.interval ? Json(result.high().base()) : Json(nullptr);
  json["interval"] = interval_json(result.interval);
  json["devices"] = result.devices;
  json["microbatches"] = result.microbatches;
  json["tokens_per_step"] = result.tokens;
  json["tokens_per_s"] = result.tokens_per_second().base();
  json["tokens_per_s_per_device"] = result.tokens_per_device().base();
  json["format"] = format_word(result.use.format);
  json["peak_TFLOPps"] = result.use.peak / 1_TFLOPps;
  json["model_TFLOPps_per_device"] = result.use.model / 1_TFLOPps;
  json["hardware_TFLOPps_per_device"] = result.use.hardware / 1_TFLOPps;
  json["utilisation"] = result.use.mfu();
  json["hardware_utilisation"] = result.use.hfu();
  Json& terms = json["terms"] = Json::object();
  for (const step::StepTerm& term : step::step_terms(result.step)) {
    terms[std::string(term.key) + "_s"] = term.time.base();
  }
  json["communication"] = communication_json(result);
  json["energy"] = result.energy ? Json{{"step_J", result.energy->base()},
                                        {"tokens_per_J", result.tokens_per_joule()},
                                        {"device_W", result.device_power().base()}}
                                 : Json(nullptr);
  json["memory"] = memory_json(result.memory);
  return json;
}

Json compute_json(const step::ComputeEstimate& estimate) {
  const RankDetail& rank = estimate.rank;
  Json json;
  json["pipeline_rank"] = rank.pipeline_rank;
  json["stages"] = rank.stages;
  json["step_compute_time_s"] = rank.step.base();
  json["bound"] = bound_word(cost::bound_of(rank));
  json["phases"] = phases_json(rank);
  Json& parts = json["parts"] = Json::object();
  for (const NamedPart& named : kTimeParts) {
    parts[std::string(named.name) + "_s"] = (estimate.parts.*named.part).base();
  }
  json["model_flops"] = rank.model_flops.base();
  json["hardware_flops"] = rank.hardware_flops.base();
  json["utilisation"] = estimate.use.model;
  json["hardware_utilisation"] = estimate.use.hardware;
  json["longest_operators"] = operators_json(rank);
  return json;
}

std::string estimate_json(const EstimateAnswer& answer) {
  const step::Estimate& result = answer.result;
  Json json = document("estimate", answer.provenance);
  json["legal"] = true;
  json["fits"] = result.memory.fits();
  json["layout"] = describe::to_text(answer.job.layout);
  json["framework"] =
      describe::word_of<describe::Framework>(describe::kFrameworkWords, answer.job.framework);
  json["global_batch"] = answer.job.global_batch;
  json.update(step_json(result));
  json["slowest"] = {{"pipeline_rank", result.step.slowest_rank},
                     {"stages", slowest_stages(result)},
                     {"microbatch_time_s", result.slowest_microbatch().base()}};
  json["stages"] = stages_json(result);
  json["training"] =
      answer.training ? estimated_training_json(*answer.training, result) : Json(nullptr);
  json["compute"] = compute_json(answer.compute);
  json["left_out"] = left_out_of_estimates();
  json["assumed"] = to_json(answer.assumed);
  return dumped(json);
}

}  // namespace sextant::explain
