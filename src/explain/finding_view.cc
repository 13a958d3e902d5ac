#include "explain/finding_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "explain/diagnose_words.h"
#include "explain/finding_words.h"
#include "explain/percent.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

using diagnose::Finding;
using sextant::to_text;

// Of a first screen: with cause and advice, and those that follow them in one line each.
constexpr std::size_t kWholeFindings = 3;
constexpr std::size_t kBriefFindings = 2;
constexpr std::size_t kMostCause = 200;  // letters
constexpr std::size_t kCauseLines = 2;
constexpr std::size_t kAdviceLines = 1;
constexpr std::string_view kIndent = "       ";

// Its first lines, with a sign where more follow.
std::string first_lines(const std::string& lines, std::size_t most) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < most; ++i) {
    at = lines.find('\n', at);
    if (at == std::string::npos || at + 1 == lines.size()) {
      return lines;
    }
    ++at;
  }
  return lines.substr(0, at - 1) + "…\n";
}

// "31.2 ms a step, gain up to 9.8 %".
std::string cost_text(const Finding& finding, Seconds step) {
  return fmt::format("{} a step, gain up to {}", to_text(finding.per_step),
                     gain_text(finding.per_step, step));
}

std::string standing_text(const Finding& finding) {
  std::string text =
      fmt::format("{}, {}", finding_ranks_text(finding), diagnose::name_of(finding.status));
  if (finding.explained_by) {
    text += ", explained by " + printable(*finding.explained_by);
  }
  return text;
}

std::string title_line(const FindingsAnswer& findings, std::size_t i, const Style& style) {
  const Finding& finding = findings.diagnosis.findings[i];
  return fmt::format("{:>5}  {}  {} ({})\n", i + 1, bold(finding.rule, style),
                     cost_text(finding, findings.diagnosis.step), standing_text(finding));
}

// "pytorch: DataLoader(num_workers=4). Load batches ahead."
std::string advice_text(const FindingsAnswer& findings, const diagnose::Advice& advice) {
  const diagnose::Setting* setting = nearest_setting(findings, advice);
  return setting == nullptr
             ? advice.what
             : fmt::format("{}: {}. {}", setting->framework, setting->text, advice.what);
}

std::string first_advice(const FindingsAnswer& findings, const Finding& finding) {
  const auto advice = advice_of(findings, finding);
  if (advice.empty()) {
    return {};
  }
  const std::string text = printable(advice_text(findings, *advice.front()), 2 * kMostCause);
  return first_lines(in_lines("→ " + text, kIndent), kAdviceLines);
}

std::string evidence_lines(const DiagnoseAnswer& answer, const Finding& finding) {
  std::string text;
  for (const diagnose::Evidence& one : finding.evidence) {
    text += fmt::format("{}rank {} at {:.3f} us for {}: {}\n", kIndent, one.rank.value,
                        profile_us(answer, one.rank, one.time.start_ns),
                        to_text(seconds_of(one.time.length_ns())), printable(one.what, 200));
  }
  return text;
}

std::string all_advice(const FindingsAnswer& findings, const Finding& finding, const Style& style) {
  std::string text;
  for (const diagnose::Advice* advice : advice_of(findings, finding)) {
    text += in_lines("→ " + advice->what, kIndent);
    for (const diagnose::Setting& setting : advice->settings) {
      text += fmt::format("{}  {}: {}\n", kIndent, setting.framework, setting.text);
    }
    text += dim(fmt::format("{}  {}", kIndent, advice->source), style) + "\n";
  }
  return text;
}

std::string unasked_text(const FindingsAnswer& findings, bool verbose) {
  const std::vector<Unasked> kinds = unasked_rules(findings);
  std::string text;
  if (!verbose && !kinds.empty()) {
    std::vector<std::string> missing;
    for (const Unasked& kind : kinds) {
      if (std::ranges::find(missing, kind.missing) == missing.end()) {
        missing.push_back(kind.missing);
      }
    }
    const std::string what =
        fmt::format("not asked: {} rules (‹verbose›) that need {}",
                    findings.diagnosis.abstentions.size(), join(missing, ", "));
    return first_lines(in_lines(printable(what, kMostCause), ""), 1);
  }
  for (const Unasked& kind : kinds) {
    text += in_lines(
        fmt::format("not asked: {} {} {}{}", join(kind.rules, ", "),
                    kind.rules.size() == 1 ? "needs" : "need", printable(kind.missing, 200),
                    kind.record.empty() ? "" : ": " + kind.record),
        "");
  }
  return text;
}

// "3 findings; together at most 42 ms of the step, a gain of up to 14.2 %".
std::string total_text(const FindingsAnswer& findings) {
  const diagnose::Diagnosis& diagnosis = findings.diagnosis;
  const auto told = std::ranges::count_if(
      diagnosis.findings, [](const Finding& one) { return !one.explained_by.has_value(); });
  if (told == 0) {
    const std::size_t asked = asked_rules(findings).size();
    return fmt::format(
        "none: {} of {} rules could be asked, and {}", asked, findings.book.rules().size(),
        diagnosis.findings.empty() ? "none of them holds" : "what they saw is nothing to mend");
  }
  return fmt::format("{}; together at most {} of the step, a gain of up to {}", told,
                     to_text(diagnosis.ceiling), gain_text(diagnosis.ceiling, diagnosis.step));
}

std::string one_finding(const DiagnoseAnswer& answer, const FindingsAnswer& findings, std::size_t i,
                        const Style& style) {
  const Finding& finding = findings.diagnosis.findings[i];
  std::string text = title_line(findings, i, style);
  if (!answer.verbose) {
    const std::string cause = in_lines(printable(as_sentence(finding.cause), kMostCause), kIndent);
    return text + first_lines(cause, kCauseLines) + first_advice(findings, finding);
  }
  text += in_lines(fmt::format("{}. {}", rule_title(findings, finding.rule),
                               printable(as_sentence(finding.cause), 1000)),
                   kIndent);
  return text + evidence_lines(answer, finding) + all_advice(findings, finding, style);
}

std::string markdown_finding(const FindingsAnswer& findings, const Finding& finding) {
  std::string text = fmt::format(
      "- **{}**: {} ({}). {}", finding.rule, cost_text(finding, findings.diagnosis.step),
      standing_text(finding), printable(as_sentence(finding.cause), 1000));
  for (const diagnose::Advice* advice : advice_of(findings, finding)) {
    text += fmt::format("\n  - {} ([source]({}))", advice_text(findings, *advice), advice->source);
  }
  return text + "\n";
}

std::string met_lines(const FindingsAnswer& findings, const Style& style) {
  std::string text;
  for (const std::string& reason : findings.met) {
    text += bad("‹fail-on› is met: " + reason, style) + "\n";
  }
  return text;
}

}  // namespace

std::string in_lines(std::string_view text, std::string_view indent, std::size_t width) {
  std::string lines;
  std::string line;
  for (const std::string_view word : split(text, ' ')) {
    const bool fits =
        display_width(indent) + display_width(line) + 1 + display_width(word) <= width;
    if (!line.empty() && !fits) {
      lines += fmt::format("{}{}\n", indent, line);
      line.clear();
    }
    line += line.empty() ? "" : " ";
    line += word;
  }
  return line.empty() ? lines : lines + fmt::format("{}{}\n", indent, line);
}

std::string findings_text(const DiagnoseAnswer& answer, const FindingsAnswer& findings,
                          const Style& style) {
  const std::vector<Finding>& all = findings.diagnosis.findings;
  if (style.format == Format::kMarkdown) {
    std::string text = fmt::format("- findings: {}\n", total_text(findings));
    for (const Finding& finding : all) {
      text += markdown_finding(findings, finding);
    }
    return text + met_lines(findings, style);
  }
  std::string text = fmt::format("{} {}\n", bold("finds ", style), total_text(findings));
  const std::size_t whole = answer.verbose ? all.size() : std::min(kWholeFindings, all.size());
  for (std::size_t i = 0; i < whole; ++i) {
    text += one_finding(answer, findings, i, style);
  }
  const std::size_t shown = std::min(all.size(), whole + kBriefFindings);
  for (std::size_t i = whole; i < shown; ++i) {
    text += title_line(findings, i, style);
  }
  if (shown < all.size()) {
    text += fmt::format("{}{} more (‹verbose›)\n", kIndent, all.size() - shown);
  }
  if (answer.verbose) {
    for (const std::string& note : findings.diagnosis.notes) {
      text += in_lines("rests on: " + printable(note, 400), "");
    }
    text += in_lines("asked: " + join(asked_rules(findings), ", "), "");
  }
  return text + unasked_text(findings, answer.verbose) + met_lines(findings, style);
}

}  // namespace sextant::explain
