#include "explain/rule_view.h"

#include <fmt/format.h>

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

}  // namespace

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
    return dumped(json);
  }
  Table table{{{"rule"}, {"what"}, {"holds when"}}, {}};
  for (const describe::Rule& rule : answer.rules) {
    table.rows.push_back(
        {std::string(rule.id), std::string(rule.title), std::string(rule.formula)});
  }
  return to_text(table, style);
}

}  // namespace sextant::explain
