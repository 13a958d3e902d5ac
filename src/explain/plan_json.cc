// A plan's answer as JSON. docs/interface.md has the keys.
#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "explain/estimate_json.h"
#include "explain/plan_parts.h"

namespace sextant::explain {
namespace {

// Every key of a layout with its value: numbers as numbers, what is several as a list.
Json layout_keys_json(const describe::Layout& layout) {
  Json json = Json::object();
  for (const auto& [key, value] : describe::layout_values(layout)) {
    const auto number = to_integer(value);
    json[std::string(key)] = number ? Json(*number) : Json(value);
  }
  if (!layout.split.layers_per_stage.empty()) {
    json["layers_per_stage"] = layout.split.layers_per_stage;
  }
  json["overlap"] = Json::array();
  for (const describe::Overlap what : layout.overlap) {
    json["overlap"].push_back(describe::word_of<describe::Overlap>(describe::kOverlapWords, what));
  }
  json["order"] = Json::array();
  for (const describe::Axis axis : layout.order) {
    json["order"].push_back(describe::word_of<describe::Axis>(describe::kAxisWords, axis));
  }
  return json;
}

Json plan_row_json(const search::PlanRow& row) {
  Json json;
  json["layout"] = row.words;
  json["keys"] = layout_keys_json(row.layout);
  json["mesh"] = row.mesh.empty() ? Json(nullptr) : Json(row.mesh);
  json["tp"] = row.layout.tp;
  json["cp"] = row.layout.cp;
  json["pp"] = row.layout.pp;
  json["ep"] = row.layout.ep;
  json["etp"] = row.layout.etp;
  json["dp"] = row.dp;
  json["mbs"] = row.layout.mbs;
  json["least_memory_bytes"] = row.result.memory.fullest.least.base();
  json.update(step_json(row.result));
  return json;
}

Json plans_json(const PlanAnswer& answer) {
  Json list = Json::array();
  for (const search::PlanRow& row : answer.plans) {
    Json json = plan_row_json(row);
    const step::Estimate& best = answer.plans.front().result;
    json["longer_s"] = (row.result.step.step - best.step.step).base();
    json["inside_interval"] = or_null(inside_interval(answer, row));
    json["decision"] =
        &row == answer.plans.data() ? Json(nullptr) : Json(decision_text(best, row.result));
    list.push_back(std::move(json));
  }
  return list;
}

Json burdens_json(const search::Burdens& of) {
  Json json{{"total", of.total()}};
  for (const auto& [burden, word] : search::kBurdenWords) {
    json[std::string(word)] = of[burden];
  }
  return json;
}

Json recommended_json(const PlanAnswer& answer) {
  if (!answer.recommended) {
    return nullptr;
  }
  const PlanRecommended& chosen = *answer.recommended;
  Json json = plan_row_json(chosen.row);
  const Seconds fastest = answer.plans.front().result.step.step;
  const Seconds longer = chosen.row.result.step.step - fastest;
  json["why"] = describe::word_of<Recommending>(kRecommendingWords, chosen.why);
  json["longer_s"] = longer.base();
  json["given_up"] = longer / fastest;
  json["difference"] = {{"speed_ratio", chosen.difference.speed},
                        {"interval", {chosen.difference.low, chosen.difference.high}}};
  json["points"] = burdens_json(chosen.own);
  json["fastest_points"] = burdens_json(chosen.winners);
  return json;
}

Json shifts_json(const std::vector<search::PlanShift>& shifts) {
  Json list = Json::array();
  for (const search::PlanShift& shift : shifts) {
    const bool known = shift.why_not.empty();
    list.push_back({{"what", shift.what},
                    {"step_time_s", known ? Json(shift.step.base()) : Json(nullptr)},
                    {"tokens_ratio", shift.tokens},
                    {"layout", shift.words.empty() ? Json(nullptr) : Json(shift.words)},
                    {"why_not", known ? Json(nullptr) : Json(shift.why_not)}});
  }
  return list;
}

Json planned_training_json(const step::TrainingRun& run) {
  Json json{{"tokens", run.tokens},
            {"steps", run.steps},
            {"time_days", run.time / 1_days},
            {"device_hours", run.device_hours()}};
  json["cost"] = run.price ? Json(run.device_hours() * *run.price) : Json(nullptr);
  return json;
}

Json why_not_json(const PlanAnswer& answer) {
  if (!answer.why_not) {
    return nullptr;
  }
  const search::WhyNot& asked = *answer.why_not;
  Json json;
  json["layout"] = answer.asked;
  json["broken"] = violation_texts(asked.broken);
  json["outside"] = Json::array();
  for (const search::Outside& outside : asked.outside) {
    json["outside"].push_back(outside_text(outside));
  }
  json["missing_bytes"] = asked.missing > Bytes() ? Json(asked.missing.base()) : Json(nullptr);
  json["step"] = asked.row ? plan_row_json(*asked.row) : Json(nullptr);
  Json& terms = json["longer"] = Json::object();
  if (asked.row && !answer.plans.empty()) {
    for (const TermChange& change :
         term_changes(answer.plans.front().result.step, asked.row->result.step)) {
      terms[std::string(change.term.key) + "_s"] = change.longer.base();
    }
  }
  return json;
}

Json path_json(const PlanAnswer& answer) {
  const std::optional<search::PlanPath>& path = answer.path;
  if (!path) {
    return nullptr;
  }
  Json json;
  json["layout"] = path->start.words;
  json["broken"] = violation_texts(path->broken);
  json["missing_bytes"] = path->missing > Bytes() ? Json(path->missing.base()) : Json(nullptr);
  json["measured_step_time_s"] = path->measured ? Json(path->measured->base()) : Json(nullptr);
  json["scale"] = path->scale;
  Json& changes = json["changes"] = Json::array();
  if (!path->broken.empty()) {
    return json;
  }
  for (std::size_t i = 0; i < path->steps.size(); ++i) {
    const search::PlanStep& step = path->steps[i];
    const bool spoken = i < answer.path_words.size() && !answer.path_words[i].empty();
    changes.push_back({{"change", step.change},
                       {"settings", spoken ? Json(answer.path_words[i]) : Json(nullptr)},
                       {"step_time_s", step.after.base()},
                       {"gain_s", (step.before - step.after).base()},
                       {"gain", (step.before - step.after) / step.before}});
  }
  json["before"] = plan_row_json(path->start);
  json["after"] = plan_row_json(path->end);
  return json;
}

Json counts_json(const std::vector<search::PlanCount>& counts) {
  Json list = Json::array();
  for (const search::PlanCount& count : counts) {
    list.push_back(
        {{"devices", count.devices},
         {"meets", count.meets},
         {"layout", count.row ? Json(count.row->words) : Json(nullptr)},
         {"step_time_s", count.row ? Json(count.row->result.step.step.base()) : Json(nullptr)},
         {"training", count.training ? planned_training_json(*count.training) : Json(nullptr)}});
  }
  return list;
}

Json freed_json(const std::vector<search::PlanFreed>& list) {
  Json json = Json::array();
  for (const search::PlanFreed& freed : list) {
    json.push_back(
        {{"what", freed.what},
         {"chosen", freed.chosen},
         {"layout", freed.row ? Json(freed.row->words) : Json(nullptr)},
         {"step_time_s", freed.row ? Json(freed.row->result.step.step.base()) : Json(nullptr)},
         {"tokens_per_s",
          freed.row ? Json(freed.row->result.tokens_per_second().base()) : Json(nullptr)}});
  }
  return json;
}

Json none_json(const std::optional<search::NoPlan>& none) {
  if (!none) {
    return nullptr;
  }
  return {{"broken", violation_texts(none->broken)},
          {"freed", none->freed},
          {"leanest", none->leanest ? Json(none->leanest->words) : Json(nullptr)},
          {"missing_bytes", none->leanest ? Json(none->missing.base()) : Json(nullptr)},
          {"changes", remedy_texts(none->changes)}};
}

Json search_json(const PlanAnswer& answer) {
  const search::Settled& all = answer.settled;
  return {{"complete", answer.complete},
          {"possible", all.possible},
          {"timed", all.timed},
          {"too_slow", all.too_slow},
          {"hides_less", all.hides_less},
          {"too_large", all.too_large},
          {"cost_calls", answer.calls.total()},
          {"memory_calls", answer.calls.weighed},
          {"time_s", answer.search_time.base()}};
}

Json proof_json(const std::optional<search::Proof>& proof) {
  if (!proof) {
    return nullptr;
  }
  return {{"exhaustive", proof->exhaustive},
          {"checked", proof->checked},
          {"possible", proof->possible},
          {"holds", !proof->better.has_value()}};
}

Json baselines_json(const std::vector<PlanBaseline>& baselines) {
  Json list = Json::array();
  for (const PlanBaseline& one : baselines) {
    list.push_back({{"name", one.name},
                    {"layout", one.words.empty() ? Json(nullptr) : Json(one.words)},
                    {"step_time_s", one.words.empty() ? Json(nullptr) : Json(one.step.base())},
                    {"cost_calls", one.calls.total()}});
  }
  return list;
}

Json files_json(const std::optional<EmitAnswer>& files) {
  Json list = Json::array();
  if (files) {
    for (const emit::File& file : files->files) {
      list.push_back({{"name", file.name}, {"text", file.text}, {"executable", file.executable}});
    }
  }
  return list;
}

}  // namespace

std::string plan_json(const PlanAnswer& answer) {
  Json json = document("plan", answer.provenance);
  json["model"] = answer.job.model.name;
  json["cluster"] = answer.job.cluster.name;
  json["devices"] = answer.job.cluster.devices;
  json["framework"] =
      describe::word_of<describe::Framework>(describe::kFrameworkWords, answer.job.framework);
  json["global_batch"] = answer.job.global_batch;
  json["sequence"] = answer.job.sequences.length;
  json["objective"] = answer.objective;
  json["fixed"] = answer.fixed;
  json["headroom"] = answer.headroom;
  json["limit_bytes"] = answer.limit.base();
  json["found"] = !answer.plans.empty();
  json["recommended"] = recommended_json(answer);
  json["plans"] = plans_json(answer);
  Json& front = json["front"] = Json::array();
  for (const search::PlanRow& row : answer.front) {
    front.push_back(plan_row_json(row));
  }
  Json& training = json["training"] =
      answer.training ? planned_training_json(*answer.training) : Json(nullptr);
  if (answer.training) {
    training["deadline_days"] = or_null(answer.days);
    training["in_time"] =
        answer.days ? Json(answer.training->time / 1_days <= *answer.days) : Json(nullptr);
  }
  json["shifts"] = shifts_json(answer.shifts);
  json["why_not"] = why_not_json(answer);
  json["changes"] = path_json(answer);
  json["counts"] = counts_json(answer.counts);
  json["freed"] = freed_json(answer.freed);
  json["none"] = none_json(answer.none);
  json["baselines"] = baselines_json(answer.baselines);
  json["proof"] = proof_json(answer.proof);
  json["files"] = files_json(answer.files);
  json["written"] = answer.files ? Json(answer.files->written) : Json::array();
  json["search"] = search_json(answer);
  json["left_out"] = left_out_of_estimates();
  json["assumed"] = to_json(answer.assumed);
  return dumped(json);
}

}  // namespace sextant::explain
