#include "explain/report.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "explain/html.h"
#include "explain/report_parts.h"

namespace sextant::explain {
namespace {

constexpr std::size_t kDiffRows = 15;

std::string run_part(std::string_view name, const DiagnoseAnswer& run, Seconds widest) {
  return fmt::format(
      "<div class=\"run\"><h3>{}</h3>\n<p class=\"soft\">{}</p>\n{}</div>\n", name,
      html_text(compared_run_text(run)),
      step_bar(run.totals, widest, fmt::format("A step of {} by what the device does", name)));
}

std::string makeup_html(const diagnose::Makeup& makeup, const diagnose::Difference& difference) {
  if (makeup.changes.empty()) {
    return {};
  }
  const std::size_t rows =
      std::min(makeup.changes.size(), std::max(kDiffRows, std::min(makeup.needed, 4 * kDiffRows)));
  return html_table(change_table(makeup.changes, makeup.of, rows, difference),
                    makeup_title(makeup, rows, difference));
}

std::string changed_findings(const DiffAnswer& answer) {
  std::string html;
  for (const std::string& line : finding_change_lines(answer.difference)) {
    html += fmt::format("<li>{}</li>\n", html_text(line));
  }
  for (const std::string& reason : answer.met) {
    html += fmt::format("<li class=\"bad\"><strong>Fails: {}</strong></li>\n", html_text(reason));
  }
  return html.empty() ? "<p class=\"soft\">No rule finds anything in either.</p>\n"
                      : "<ul class=\"plain\">\n" + html + "</ul>\n";
}

}  // namespace

std::string report_html(const DiagnoseAnswer& answer, std::string_view trace) {
  return html_page("Sextant: diagnosis", report_head(answer) + report_findings(answer) +
                                             report_breakdown(answer) + report_evidence(answer) +
                                             report_timeline_link(trace) + report_ranks(answer) +
                                             report_tables(answer) + report_limits(answer) +
                                             report_footer(answer.provenance));
}

std::string report_html(const DiffAnswer& answer) {
  const diagnose::Difference& difference = answer.difference;
  const auto table = [&](const std::vector<diagnose::Change>& changes, std::string_view first) {
    return html_table(change_table(changes, first, kDiffRows, difference));
  };
  std::string body = fmt::format("<h1>Step {}</h1>\n", html_text(step_change_text(difference)));
  const Seconds widest = std::max(difference.step_a, difference.step_b);
  body += run_part("A", answer.a, widest) + run_part("B", answer.b, widest);
  body += html_section("Findings", changed_findings(answer));
  body += html_section("Where the change lies", table(difference.parts, "part of the step"));
  body += html_section("What makes it up", makeup_html(difference.makeup, difference));
  body += html_section("Ranges of the host", makeup_html(difference.ranges, difference));
  body += html_section("The host",
                       table(difference.signals, "what the host was at while the device idled"));
  body += html_section("Kinds of work", table(difference.kinds, "kind of work"));
  body += html_section("Collectives", table(difference.collectives, "collective"));
  body += html_section("Operators", table(difference.operators, "operator"));
  body += html_section("Kernels", table(difference.kernels, "kernel"));
  return html_page("Sextant: two runs", body + report_footer(answer.provenance));
}

}  // namespace sextant::explain
