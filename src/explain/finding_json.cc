#include "explain/finding_json.h"

#include "base/text.h"
#include "explain/finding_words.h"

namespace sextant::explain {
namespace {

std::string safe_text(std::string_view text) {
  return printable(text, text.size() * 4 + 1);
}

Json evidence_json(const DiagnoseAnswer& answer, const diagnose::Finding& finding) {
  Json list = Json::array();
  for (const diagnose::Evidence& one : finding.evidence) {
    list.push_back({{"rank", one.rank.value},
                    {"start_us", profile_us(answer, one.rank, one.time.start_ns)},
                    {"end_us", profile_us(answer, one.rank, one.time.end_ns)},
                    {"what", safe_text(one.what)}});
  }
  return list;
}

Json advice_json(const FindingsAnswer& findings, const diagnose::Finding& finding) {
  Json list = Json::array();
  for (const diagnose::Advice* advice : advice_of(findings, finding)) {
    Json settings = Json::object();
    for (const diagnose::Setting& setting : advice->settings) {
      settings[setting.framework] = setting.text;
    }
    list.push_back(
        {{"what", advice->what}, {"settings", std::move(settings)}, {"source", advice->source}});
  }
  return list;
}

Json parts_lost_json(const diagnose::PartTimes& parts) {
  return {{"compute_s", parts[0].base()},
          {"exposed_comm_s", parts[1].base()},
          {"exposed_copy_s", parts[2].base()},
          {"idle_s", parts[3].base()}};
}

}  // namespace

Json finding_json(const DiagnoseAnswer& answer, const FindingsAnswer& findings,
                  const diagnose::Finding& finding) {
  Json ranks = Json::array();
  for (const RankId rank : finding.ranks) {
    ranks.push_back(rank.value);
  }
  Json json;
  json["rule"] = finding.rule;
  json["title"] = rule_title(findings, finding.rule);
  json["cause"] = safe_text(finding.cause);
  json["ranks"] = std::move(ranks);
  json["seconds_per_step"] = finding.per_step.base();
  json["by_part"] = parts_lost_json(finding.parts);
  json["gain_ceiling"] = or_null(gain_share(finding.per_step, findings.diagnosis.step));
  json["status"] = diagnose::name_of(finding.status);
  json["evidence"] = evidence_json(answer, finding);
  json["advice"] = advice_json(findings, finding);
  json["explained_by"] = or_null(finding.explained_by);
  return json;
}

void add_findings(Json& json, const DiagnoseAnswer& answer) {
  Json list = Json::array();
  Json abstained = Json::array();
  if (!answer.findings) {
    json["findings"] = nullptr;
    return;
  }
  const FindingsAnswer& findings = *answer.findings;
  for (const diagnose::Finding& finding : findings.diagnosis.findings) {
    list.push_back(finding_json(answer, findings, finding));
  }
  for (const Unasked& kind : unasked_rules(findings)) {
    for (const std::string& rule : kind.rules) {
      abstained.push_back(
          {{"rule", rule}, {"missing", safe_text(kind.missing)}, {"record", kind.record}});
    }
  }
  const diagnose::BottleneckClass& bottleneck = findings.diagnosis.bottleneck;
  Json guilty = Json::array();
  for (const std::string& name : bottleneck.operators) {
    guilty.push_back(safe_text(name));
  }
  json["bottleneck"] = {{"class", diagnose::name_of(bottleneck.bottleneck)},
                        {"operators", std::move(guilty)},
                        {"reason", bottleneck.reason}};
  json["findings"] = std::move(list);
  json["abstained"] = std::move(abstained);
  json["asked"] = asked_rules(findings);
  json["notes"] = Json::array();
  for (const std::string& note : findings.diagnosis.notes) {
    json["notes"].push_back(safe_text(note));
  }
  json["gain_ceiling_total"] =
      or_null(gain_share(findings.diagnosis.ceiling, findings.diagnosis.step));
  json["fail_on_met"] = findings.met;
}

}  // namespace sextant::explain
