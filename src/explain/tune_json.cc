#include "explain/tune_json.h"

#include "explain/json.h"
#include "explain/judged_json.h"

namespace sextant::explain {
namespace {

using agents::Judged;

Json said_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json hypothesis_json(const agents::Hypothesis& hypothesis) {
  Json json;
  json["bottleneck"] = hypothesis.is_known ? Json(agents::word_of(hypothesis)) : Json(nullptr);
  json["why"] = hypothesis.why;
  return json;
}

Json tune_operators_json(const agents::Analysis& analysis) {
  Json list = Json::array();
  for (const agents::TopOperator& one : analysis.operators) {
    list.push_back({{"name", one.name},
                    {"category", said_or_null(one.category)},
                    {"share", one.share},
                    {"bound", metrics::name_of(one.bound)},
                    {"efficiency", or_null(one.efficiency)},
                    {"collective", one.is_collective}});
  }
  return list;
}

Json analysis_json(const agents::Analysis& analysis) {
  Json json;
  Json& experiment = json["experiment"] = Json::array();
  for (const agents::Fact& fact : analysis.experiment) {
    experiment.push_back({{"key", fact.key},
                          {"value", said_or_null(fact.value)},
                          {"source", said_or_null(fact.source)}});
  }
  Json& kpis = json["kpis"] = Json::array();
  for (const agents::Kpi& kpi : analysis.kpis) {
    kpis.push_back({{"key", kpi.key}, {"value", or_null(kpi.value)}, {"remark", kpi.remark}});
  }
  json["initial"] = hypothesis_json(analysis.initial);
  json["settled"] = hypothesis_json(analysis.settled);
  json["overturned"] = or_null(analysis.overturned);
  json["operators"] = tune_operators_json(analysis);
  json["correlation"] = analysis.correlation;
  Json& axes = json["axes"] = Json::array();
  for (const kb::Theme axis : analysis.axes) {
    axes.push_back(describe::word_of<kb::Theme>(kb::kThemeWords, axis));
  }
  json["root_cause"] = analysis.root_cause;
  json["notes"] = analysis.notes;
  return json;
}

Json ratio_range_json(const std::optional<step::RatioRange>& range) {
  return range ? Json{{"low", range->low}, {"high", range->high}} : Json(nullptr);
}

Json claim_json(const verify::Claim& claim) {
  return {{"quantity", describe::word_of<step::Quantity>(step::kQuantityWords, claim.quantity)},
          {"direction", describe::word_of<step::Direction>(step::kDirectionWords, claim.direction)},
          {"claimed_ratio", ratio_range_json(claim.ratio)}};
}

Json judged_claims_json(const verify::Verdict& verdict) {
  Json list = Json::array();
  for (const verify::JudgedClaim& one : verdict.claims) {
    Json claim = claim_json(one.claim);
    claim["ruling"] = describe::word_of<verify::ClaimRuling>(verify::kClaimRulingWords, one.ruling);
    const bool is_priced = one.interval.high > 0.0;
    claim["ratio"] = is_priced ? Json(one.ratio) : Json(nullptr);
    claim["interval"] = is_priced ? ratio_range_json(one.interval) : Json(nullptr);
    claim["term"] = said_or_null(one.term);
    claim["why"] = one.why;
    list.push_back(std::move(claim));
  }
  return list;
}

Json tune_violations_json(const std::vector<describe::Violation>& violations) {
  Json list = Json::array();
  for (const describe::Violation& violation : violations) {
    list.push_back(
        {{"rule", violation.rule}, {"message", violation.message}, {"nearest", violation.nearest}});
  }
  return list;
}

Json verdict_json(const verify::Verdict& verdict) {
  Json json;
  json["ruling"] = describe::word_of<verify::Ruling>(verify::kRulingWords, verdict.ruling);
  json["ground"] = describe::word_of<verify::Ground>(verify::kGroundWords, verdict.ground);
  json["reason"] = verdict.reason;
  json["broken"] = tune_violations_json(verdict.broken);
  json["broken_already"] = tune_violations_json(verdict.broken_already);
  json["missing"] = verdict.missing;
  json["claims"] = judged_claims_json(verdict);
  Json& citations = json["citations"] = Json::array();
  for (const verify::JudgedCitation& one : verdict.citations) {
    citations.push_back(
        {{"kind", describe::word_of<verify::Cited>(verify::kCitedWords, one.citation.kind)},
         {"id", one.citation.id},
         {"stands", one.stands},
         {"why", one.why}});
  }
  json["speed"] = verdict.speed ? Json{{"ratio", verdict.speed->speed},
                                       {"low", verdict.speed->low},
                                       {"high", verdict.speed->high}}
                                : Json(nullptr);
  const auto step_of = [](const std::optional<step::Estimate>& estimate) {
    return estimate ? Json(estimate->step.step.base()) : Json(nullptr);
  };
  json["step_time_before_s"] = step_of(verdict.before);
  json["step_time_after_s"] = step_of(verdict.after);
  return json;
}

}  // namespace

Json judged_json(const Judged& judged) {
  const verify::Proposal& proposal = judged.proposal;
  Json json;
  json["title"] = proposal.title;
  json["author"] = proposal.author;
  json["mesh"] = said_or_null(judged.mesh);
  json["layout"] = said_or_null(judged.layout);
  json["change"] = {{"layout", said_or_null(proposal.change.layout)},
                    {"setting", said_or_null(proposal.change.setting)},
                    {"mends", said_or_null(proposal.change.mends)}};
  json["devices"] = or_null(proposal.devices);
  json["reasoning"] = {{"bottleneck", proposal.reasoning.bottleneck},
                       {"memory", proposal.reasoning.memory},
                       {"comparison", proposal.reasoning.comparison}};
  Json& claims = json["claims"] = Json::array();
  for (const verify::Claim& claim : proposal.claims) {
    claims.push_back(claim_json(claim));
  }
  Json& citations = json["citations"] = Json::array();
  for (const verify::Citation& one : proposal.citations) {
    citations.push_back({{"kind", describe::word_of<verify::Cited>(verify::kCitedWords, one.kind)},
                         {"id", one.id}});
  }
  json["trade_offs"] = proposal.trade_offs;
  json["impact"] = {{"step", said_or_null(judged.impact.step)},
                    {"duty", said_or_null(judged.impact.duty)},
                    {"communication", said_or_null(judged.impact.communication)},
                    {"memory", said_or_null(judged.impact.memory)}};
  json["confidence"] = or_null(judged.confidence);
  json["verdict"] = verdict_json(judged.verdict);
  json["run"] = judged.run;
  return json;
}

namespace {

Json all_judged_json(const std::vector<Judged>& all) {
  Json list = Json::array();
  for (const Judged& one : all) {
    list.push_back(judged_json(one));
  }
  return list;
}

Json model_json(const ModelPart& model) {
  Json json{{"added", all_judged_json(model.added)},
            {"agreed", model.agreed},
            {"summary", model.summary},
            {"cut_short", or_null(model.cut_short)},
            {"retrieval", said_or_null(model.retrieval)},
            {"cost", model.cost}};
  Json& questions = json["questions"] = Json::array();
  for (const ModelQuestion& one : model.questions) {
    questions.push_back(
        {{"question", one.question}, {"said", one.said}, {"added", all_judged_json(one.added)}});
  }
  return json;
}

}  // namespace

std::string tune_json(const TuneAnswer& answer) {
  Json json = document("tune", answer.provenance);
  json["engine"] = answer.engine;
  json["fallback"] = or_null(answer.fallback);
  json["session"] = said_or_null(answer.session);
  json["analysis"] = analysis_json(answer.report.analysis);
  json["proposals"] = all_judged_json(answer.report.proposals);
  json["fewer"] = or_null(answer.report.fewer);
  json["keep"] = or_null(answer.report.keep);
  json["ideas"] = all_judged_json(answer.report.ideas);
  json["turned_down"] = all_judged_json(answer.report.turned_down);
  json["model"] = answer.model ? model_json(*answer.model) : Json(nullptr);
  json["would_send"] = said_or_null(answer.would_send);
  json["assumed"] = to_json(answer.assumed);
  return dumped(json);
}

std::string tune_log_json(const TuneLogAnswer& answer) {
  Json json = document("tune-log", answer.provenance);
  Json& sessions = json["sessions"] = Json::array();
  for (const kb::Session& session : answer.sessions) {
    sessions.push_back(
        {{"name", session.name}, {"begun_at", session.begun_at}, {"events", session.events}});
  }
  Json& events = json["events"] = Json::array();
  for (const ReplayedEvent& one : answer.events) {
    events.push_back(
        {{"place", one.logged.place},
         {"kind", describe::word_of<kb::EventKind>(kb::kEventKindWords, one.logged.event.kind)},
         {"at", one.logged.event.at},
         {"text", one.logged.event.text},
         {"today", or_null(one.today)},
         {"agrees", one.today ? Json(one.agrees) : Json(nullptr)}});
  }
  return dumped(json);
}

}  // namespace sextant::explain
