#include "agents/llm_report.h"

#include <string_view>

#include <fmt/format.h>

#include "agents/proposal_text.h"
#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "metrics/kpis.h"

namespace sextant::agents {
namespace {

// Of a text that may be anybody's: a kernel's name is long where it is a template.
constexpr std::size_t kShownName = 160;

void add_fact(std::string& text, const Fact& fact) {
  text += fmt::format("- {}: {}{}\n", printable(fact.key), printable(fact.value, kShownName),
                      fact.source.empty() ? "" : " (" + printable(fact.source, kShownName) + ")");
}

void add_operator(std::string& text, const TopOperator& one) {
  text += fmt::format(
      "- {}: {:.1f} % of the time, {} bound{}\n", printable(one.name, kShownName),
      one.share * 100.0, metrics::name_of(one.bound),
      one.efficiency ? fmt::format(", {:.0f} % of its roof", *one.efficiency * 100.0) : "");
}

void add_judged(std::string& text, const Judged& judged) {
  text +=
      fmt::format("- {}\n  layout: {}\n  verdict: {}: {}\n", printable(judged.proposal.title),
                  judged.layout.empty() ? judged.proposal.change.setting : judged.layout,
                  describe::word_of<verify::Ruling>(verify::kRulingWords, judged.verdict.ruling),
                  judged.verdict.reason);
  if (!judged.impact.step.empty()) {
    text += fmt::format("  expected: step {}, communication {}, memory {}\n", judged.impact.step,
                        judged.impact.communication, judged.impact.memory);
  }
}

void add_lines(std::string& text, std::string_view head, const std::vector<std::string>& lines) {
  if (lines.empty()) {
    return;
  }
  text += fmt::format("{}:\n", head);
  for (const std::string& line : lines) {
    text += fmt::format("- {}\n", printable(line, 400));
  }
}

void add_analysis(std::string& text, const Analysis& analysis) {
  text += "What is known of the job:\n";
  for (const Fact& fact : analysis.experiment) {
    add_fact(text, fact);
  }
  if (!analysis.kpis.empty()) {
    text += "Key figures:\n";
  }
  for (const Kpi& kpi : analysis.kpis) {
    text += fmt::format("- {}: {}{}{}\n", kpi.key,
                        kpi.value ? fmt::format("{:.4g}", *kpi.value) : "not known",
                        kpi.remark.empty() ? "" : "; ", printable(kpi.remark, 300));
  }
  if (!analysis.operators.empty()) {
    text += "Operators that take longest:\n";
  }
  for (const TopOperator& one : analysis.operators) {
    add_operator(text, one);
  }
  text +=
      fmt::format("What holds it up: {}. {}\n", word_of(analysis.settled), analysis.settled.why);
  if (!analysis.root_cause.empty()) {
    text += fmt::format("Root cause: {}\n", analysis.root_cause);
  }
  add_lines(text, "What goes together", analysis.correlation);
  add_lines(text, "Notes", analysis.notes);
}

}  // namespace

std::string report_for_model(const Report& report) {
  std::string text;
  add_analysis(text, report.analysis);
  text += report.proposals.empty() ? "Proposed: nothing\n" : "Proposed, the best first:\n";
  for (const Judged& one : report.proposals) {
    add_judged(text, one);
  }
  if (!report.ideas.empty()) {
    text += "The user's own ideas:\n";
  }
  for (const Judged& one : report.ideas) {
    add_judged(text, one);
  }
  if (!report.turned_down.empty()) {
    text += "Turned down:\n";
  }
  for (const Judged& one : report.turned_down) {
    add_judged(text, one);
  }
  if (report.fewer) {
    text += fmt::format("Why not more: {}\n", *report.fewer);
  }
  if (report.keep) {
    text += fmt::format("Keep the job as it is: {}\n", *report.keep);
  }
  std::string keys;
  for (const describe::LayoutKey& key : describe::layout_keys()) {
    keys += fmt::format("- {}: {}\n", key.name, key.values);
  }
  return text + "Layout keys and their values:\n" + keys;
}

std::string verdict_for_model(const verify::Proposal& proposal, const verify::Verdict& verdict) {
  std::string text = fmt::format("proposal: {}\n", printable(proposal.title));
  if (!proposal.change.layout.empty()) {
    text += fmt::format("layout: {}\n", printable(proposal.change.layout));
  }
  return text + verdict_text(verdict);
}

}  // namespace sextant::agents
