#include <algorithm>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "explain/diagnose_words.h"
#include "explain/finding_words.h"
#include "explain/html.h"
#include "explain/report_parts.h"

namespace sextant::explain {
namespace {

using diagnose::Finding;

std::string evidence_table(const DiagnoseAnswer& answer, const Finding& finding) {
  Table table{{{"what"}, {"rank", true}, {"at (us, as in the profile)", true}, {"takes", true}},
              {}};
  for (const diagnose::Evidence& one : finding.evidence) {
    table.rows.push_back({one.what, fmt::format("{}", one.rank.value),
                          fmt::format("{:.3f}", profile_us(answer, one.rank, one.time.start_ns)),
                          to_text(seconds_of(one.time.length_ns()))});
  }
  return table.rows.empty()
             ? std::string()
             : fmt::format("<details><summary>Evidence ({})</summary>\n{}</details>\n",
                           table.rows.size(), html_table(table));
}

// The nearest setting first.
std::string settings_html(const FindingsAnswer& findings, const diagnose::Advice& advice) {
  const diagnose::Setting* nearest = nearest_setting(findings, advice);
  std::string html;
  const auto add = [&](const diagnose::Setting& setting) {
    html += fmt::format(
        " <span class=\"setting\"><span class=\"soft\">{}:</span> <code>{}</code></span>",
        html_text(setting.framework), html_text(setting.text));
  };
  if (nearest != nullptr) {
    add(*nearest);
  }
  for (const diagnose::Setting& setting : advice.settings) {
    if (&setting != nearest) {
      add(setting);
    }
  }
  return html;
}

std::string advice_html(const FindingsAnswer& findings, const Finding& finding) {
  const auto advice = advice_of(findings, finding);
  if (advice.empty()) {
    return {};
  }
  std::string html = "<ol class=\"advice\">\n";
  for (const diagnose::Advice* one : advice) {
    html +=
        fmt::format("<li>{}{} (<a href=\"{}\" rel=\"noreferrer\">source</a>)</li>\n",
                    html_text(one->what), settings_html(findings, *one), html_text(one->source));
  }
  return html + "</ol>\n";
}

std::string card(const DiagnoseAnswer& answer, const FindingsAnswer& findings,
                 const Finding& finding) {
  const Seconds step = findings.diagnosis.step;
  std::string html = fmt::format(
      "<article class=\"card {}{}\">\n<h3>{}</h3>\n", diagnose::name_of(finding.status),
      finding.explained_by ? " explained" : "", html_text(rule_title(findings, finding.rule)));
  html += fmt::format(
      "<div class=\"cost\"><span><b>{}</b> a step</span><span>gain up to <b>{}</b></span>"
      "<span>{}</span><span>{}</span><span><code>{}</code></span>",
      html_text(to_text(finding.per_step)), html_text(gain_text(finding.per_step, step)),
      html_text(finding_ranks_text(finding)), diagnose::name_of(finding.status),
      html_text(finding.rule));
  if (finding.explained_by) {
    html += fmt::format("<span>explained by {}</span>", html_text(*finding.explained_by));
  }
  html += "</div>\n";
  html +=
      html_bar({{to_text(finding.per_step), step > 0_s ? finding.per_step / step : 0.0, "lost"}},
               "Its share of a step");
  html += fmt::format("<p>{}</p>\n", html_text(as_sentence(finding.cause)));
  return html + advice_html(findings, finding) + evidence_table(answer, finding) + "</article>\n";
}

}  // namespace

std::string report_findings(const DiagnoseAnswer& answer) {
  if (!answer.findings) {
    return {};
  }
  std::string html;
  for (const Finding& finding : answer.findings->diagnosis.findings) {
    html += card(answer, *answer.findings, finding);
  }
  if (html.empty()) {
    std::string rules;
    for (const std::string& rule : asked_rules(*answer.findings)) {
      rules += fmt::format("{}{}", rules.empty() ? "" : ", ", rule);
    }
    html = fmt::format(
        "<p class=\"good\"><strong>None of the rules asked holds.</strong></p>\n"
        "<p class=\"soft\">Asked: {}</p>\n",
        html_text(rules));
  }
  return html_section("Findings", html);
}

}  // namespace sextant::explain
