#include "explain/rule_view.h"

#include <fmt/format.h>

#include "explain/finding_view.h"
#include "explain/json.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

Json rule_json(const describe::Rule& rule) {
  return {{"id", rule.id},
          {"title", rule.title},
          {"formula", rule.formula},
          {"why", rule.why},
          {"fix", rule.fix},
          {"framework", rule.framework},
          {"enforced", rule.enforced}};
}

Json diagnosis_rule_json(const diagnose::Rule& rule) {
  Json advice = Json::array();
  for (const diagnose::Advice& one : rule.advice) {
    Json settings = Json::object();
    for (const diagnose::Setting& setting : one.settings) {
      settings[setting.framework] = setting.text;
    }
    advice.push_back({{"id", one.id},
                      {"what", one.what},
                      {"settings", std::move(settings)},
                      {"source", one.source}});
  }
  Json json;
  json["id"] = rule.id;
  json["title"] = rule.title;
  json["meaning"] = rule.meaning;
  json["record"] = rule.record;
  json["advice"] = std::move(advice);
  return json;
}

}  // namespace

std::string to_text(const DiagnosisRuleAnswer& answer, const Style& style) {
  const diagnose::Rule& rule = answer.rule;
  if (style.format == Format::kJson) {
    Json json = document("explain", answer.provenance);
    json["tree"] = diagnosis_rule_json(rule);
    return dumped(json);
  }
  std::string text = fmt::format("{}: {}\n\n", bold(rule.id, style), rule.title);
  text += in_lines(rule.meaning, "  ") + "\n";
  text += in_lines("asks for: " + rule.record, "  ");
  for (const diagnose::Advice& advice : rule.advice) {
    text += "\n" + in_lines("→ " + advice.what, "  ");
    for (const diagnose::Setting& setting : advice.settings) {
      text += fmt::format("    {}: {}\n", setting.framework, setting.text);
    }
    text += dim("    " + advice.source, style) + "\n";
  }
  return text;
}

std::string to_text(const RuleAnswer& answer, const Style& style) {
  const describe::Rule& rule = answer.rule;
  if (style.format == Format::kJson) {
    Json json = document("explain", answer.provenance);
    json["tree"] = rule_json(rule);
    return dumped(json);
  }
  return fmt::format(
      "{}: {}\n\n  holds when  {}\n  why         {}\n  fix         {}\n  whose       {}\n  "
      "enforced    {}\n",
      bold(rule.id, style), rule.title, rule.formula, rule.why, rule.fix,
      rule.framework.empty() ? "any framework" : rule.framework, rule.enforced);
}

std::string to_text(const RuleBookAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    Json json = document("explain", answer.provenance);
    json["rules"] = Json::array();
    for (const describe::Rule& rule : answer.rules) {
      json["rules"].push_back(rule_json(rule));
    }
    json["diagnosis_rules"] = Json::array();
    for (const diagnose::Rule& rule : answer.of_diagnosis) {
      json["diagnosis_rules"].push_back(diagnosis_rule_json(rule));
    }
    return dumped(json);
  }
  Table table{{{"rule"}, {"what"}, {"holds when"}}, {}};
  for (const describe::Rule& rule : answer.rules) {
    table.rows.push_back(
        {std::string(rule.id), std::string(rule.title), std::string(rule.formula)});
  }
  for (const diagnose::Rule& rule : answer.of_diagnosis) {
    table.rows.push_back({rule.id, rule.title, "(found by a diagnosis)"});
  }
  return to_text(table, style);
}

}  // namespace sextant::explain
