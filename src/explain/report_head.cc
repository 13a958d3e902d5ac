#include <fmt/format.h>

#include "base/quantity_text.h"
#include "explain/diagnose_lines.h"
#include "explain/diagnose_words.h"
#include "explain/finding_words.h"
#include "explain/html.h"
#include "explain/percent.h"
#include "explain/report_parts.h"

namespace sextant::explain {
namespace {

constexpr std::array<std::string_view, 4> kPartClasses{"compute", "comm", "copy", "idle"};

std::string tile(std::string_view number, std::string_view name) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", html_text(number),
                     html_text(name));
}

std::string part_share(std::int64_t part, const metrics::RankTotals& totals) {
  return percent(ns_share(part, totals.time.total_ns()));
}

std::size_t told_findings(const FindingsAnswer& findings) {
  std::size_t told = 0;
  for (const diagnose::Finding& finding : findings.diagnosis.findings) {
    told += finding.explained_by ? 0U : 1U;
  }
  return told;
}

std::string report_headline(const DiagnoseAnswer& answer) {
  if (!answer.findings) {
    return "No step is whole: nothing was asked";
  }
  const FindingsAnswer& findings = *answer.findings;
  const std::size_t told = told_findings(findings);
  if (told == 0) {
    return fmt::format("No finding: {} of {} rules could be asked", asked_rules(findings).size(),
                       findings.book.rules().size());
  }
  return fmt::format("{} finding{}: up to {} of a step of {} could go", told, told == 1 ? "" : "s",
                     to_text(findings.diagnosis.ceiling), to_text(mean_step(answer.totals)));
}

}  // namespace

std::string report_head(const DiagnoseAnswer& answer) {
  const metrics::RankTotals& totals = answer.totals;
  std::string html = fmt::format("<h1>{}</h1>\n", html_text(report_headline(answer)));
  for (const DiagnosisLine& line : diagnosis_head(answer, {})) {
    if (line.name != "step") {
      html += fmt::format("<p class=\"soft\">{}</p>\n", html_text(line.text));
    }
  }
  if (const std::string scope = scope_text(answer); !scope.empty()) {
    html += fmt::format("<p><strong>{}</strong></p>\n", html_text(scope));
  }
  if (answer.findings) {
    for (const std::string& reason : answer.findings->met) {
      html += fmt::format("<p class=\"bad\"><strong>Fails: {}</strong></p>\n", html_text(reason));
    }
  }
  html += "<div class=\"tiles\">\n";
  html += tile(to_text(mean_step(totals)), "a step, mean");
  html += tile(part_share(totals.time.busy_ns(), totals), "of it the device is busy");
  html += tile(part_share(totals.time.exposed_communication_ns, totals), "exposed communication");
  html += tile(part_share(totals.time.idle_ns, totals), "idle");
  if (answer.findings) {
    const diagnose::Diagnosis& diagnosis = answer.findings->diagnosis;
    html += tile(gain_text(diagnosis.ceiling, diagnosis.step), "gain at most");
  }
  return html + "</div>\n";
}

std::string step_bar(const metrics::RankTotals& totals, Seconds widest, std::string_view label) {
  std::vector<BarPiece> pieces;
  std::string legend = "<ul class=\"legend\">\n";
  const auto parts = step_parts(totals.time);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto share = ns_share(parts[i].time_ns, totals.time.total_ns());
    const std::string text = fmt::format(
        "{} {} ({})", parts[i].word, to_text(mean_of(parts[i].time_ns, totals)), percent(share));
    pieces.push_back(
        {text, widest > 0_s ? mean_of(parts[i].time_ns, totals) / widest : 0.0, kPartClasses[i]});
    legend += fmt::format(
        "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"{}\" width=\"10\" "
        "height=\"10\"/></svg>{}</li>\n",
        kPartClasses[i], html_text(text));
  }
  return html_bar(pieces, label) + legend + "</ul>\n";
}

std::string report_breakdown(const DiagnoseAnswer& answer) {
  std::string html =
      step_bar(answer.totals, mean_step(answer.totals), "A step by what the device does");
  html += "<ul class=\"plain\">\n";
  for (const DiagnosisLine& line : diagnosis_state(answer)) {
    html += fmt::format("<li><strong>{}</strong>: {}</li>\n", html_text(line.name),
                        html_text(line.text));
  }
  return html_section("Where a step goes", html + "</ul>\n");
}

std::string report_footer(const Provenance& provenance) {
  std::string html = fmt::format("<footer>Sextant {}; of", html_text(provenance.tool_version));
  constexpr std::size_t kShown = 16;
  for (std::size_t i = 0; i < std::min(kShown, provenance.inputs.size()); ++i) {
    html += fmt::format("{} {} ({})", i == 0 ? "" : ",", html_text(provenance.inputs[i].first),
                        html_text(provenance.inputs[i].second.substr(0, 12)));
  }
  if (provenance.inputs.size() > kShown) {
    html += fmt::format(" and {} more", provenance.inputs.size() - kShown);
  }
  return html + "</footer>\n";
}

}  // namespace sextant::explain
