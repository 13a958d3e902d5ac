#include "explain/tune_sections.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/finding_view.h"
#include "explain/percent.h"
#include "explain/shown_text.h"
#include "explain/text_table.h"
#include "verify/claims.h"

namespace sextant::explain {
namespace {

using agents::Analysis;
using agents::Judged;

constexpr std::size_t kTuneWidth = 100;
constexpr std::size_t kLabelWidth = 11;
constexpr std::size_t kMostTuneText = 1'500;
constexpr std::size_t kMostName = 48;

// "device tpu-v5p; chips 512"; what nobody knows is named apart, what several lines of a file say
// once.
std::string known_facts(const Analysis& analysis) {
  std::vector<std::string> parts;
  for (const agents::Fact& fact : analysis.experiment) {
    std::string part = fmt::format("{} {}", fact.key, fact.value);
    if (!fact.value.empty() && std::ranges::find(parts, part) == parts.end()) {
      parts.push_back(std::move(part));
    }
  }
  return join(parts, "; ");
}

std::string unknown_facts(const Analysis& analysis) {
  std::vector<std::string> parts;
  for (const agents::Fact& fact : analysis.experiment) {
    if (fact.value.empty()) {
      parts.push_back(fact.key);
    }
  }
  return join(parts, ", ");
}

std::string facts_with_sources(const Analysis& analysis, const Style& style) {
  Table table{{{"what is known"}, {"value"}, {"source"}}, {}};
  for (const agents::Fact& fact : analysis.experiment) {
    table.rows.push_back({shown_text(fact.key, kMostName, style),
                          fact.value.empty() ? "unknown" : shown_text(fact.value, kMostName, style),
                          shown_text(fact.source, kMostName, style)});
  }
  return table.rows.empty() ? "" : "\n" + to_text(table, style) + "\n";
}

std::string kpi_words(const Analysis& analysis, bool verbose) {
  std::vector<std::string> parts;
  for (const agents::Kpi& kpi : analysis.kpis) {
    if (kpi.value || verbose) {
      parts.push_back(fmt::format(
          "{} {}{}", kpi.key, kpi.value ? fmt::format("{:.6g}", *kpi.value) : "unknown",
          verbose && !kpi.remark.empty() ? fmt::format(" ({})", kpi.remark) : std::string()));
    }
  }
  return join(parts, "; ");
}

std::string hypothesis_words(const Analysis& analysis) {
  std::string text = fmt::format("{}: {}", agents::word_of(analysis.settled), analysis.settled.why);
  if (agents::word_of(analysis.initial) != agents::word_of(analysis.settled)) {
    text += fmt::format(". By the key figures alone it was {} ({})",
                        agents::word_of(analysis.initial), analysis.initial.why);
    if (analysis.overturned && *analysis.overturned != analysis.settled.why) {
      text += "; overturned: " + *analysis.overturned;
    }
  }
  return text;
}

std::string operators_text(const TuneAnswer& answer, const Style& style) {
  const std::vector<agents::TopOperator>& operators = answer.report.analysis.operators;
  const std::size_t rows = tune_rows(answer, operators.size());
  if (rows == 0) {
    return {};
  }
  Table table{{{"operator"}, {"category"}, {"share", true}, {"bound"}, {"of its roof", true}}, {}};
  for (const agents::TopOperator& one : std::span(operators).first(rows)) {
    table.rows.push_back({shown_text(one.name, kMostName, style),
                          shown_text(one.category, kMostName / 2, style),
                          fmt::format("{:.3g} %", 100.0 * one.share),
                          std::string(metrics::name_of(one.bound)), percent(one.efficiency)});
  }
  return "\n" + to_text(table, style);
}

std::string ruling_text(const verify::Verdict& verdict, const Style& style) {
  const std::string_view word =
      describe::word_of<verify::Ruling>(verify::kRulingWords, verdict.ruling);
  return verdict.stands()                              ? good(word, style)
         : verdict.ruling == verify::Ruling::kRejected ? bad(word, style)
                                                       : std::string(word);
}

std::string claim_text(const verify::JudgedClaim& claim, bool verbose) {
  std::string text =
      fmt::format("{} {}", verify::words_of(claim.claim),
                  describe::word_of<verify::ClaimRuling>(verify::kClaimRulingWords, claim.ruling));
  if (claim.interval.high > 0.0) {
    text += fmt::format(": {}", verify::ratio_words(claim.ratio, claim.interval));
  }
  return verbose && !claim.why.empty() ? fmt::format("{} ({})", text, claim.why) : text;
}

std::string claims_text(const verify::Verdict& verdict, bool verbose) {
  std::vector<std::string> parts;
  for (const verify::JudgedClaim& claim : verdict.claims) {
    parts.push_back(claim_text(claim, verbose));
  }
  return join(parts, "; ");
}

std::string citation_text(const verify::Citation& citation) {
  const std::string_view kind =
      describe::word_of<verify::Cited>(verify::kCitedWords, citation.kind);
  return citation.id.empty() ? std::string(kind) : fmt::format("{} {}", kind, citation.id);
}

// Those that were looked at, with those that were struck; else as the proposal has them.
std::string citations_text(const Judged& judged, bool verbose) {
  std::vector<std::string> parts;
  for (const verify::JudgedCitation& one : judged.verdict.citations) {
    const std::string why = verbose || !one.stands ? fmt::format(" ({})", one.why) : std::string();
    parts.push_back(
        fmt::format("{}{}{}", one.stands ? "" : "struck: ", citation_text(one.citation), why));
  }
  if (parts.empty()) {
    for (const verify::Citation& citation : judged.proposal.citations) {
      parts.push_back(citation_text(citation));
    }
  }
  return join(parts, "; ");
}

std::string impact_text(const agents::Impact& impact) {
  const std::array<std::pair<std::string_view, const std::string*>, 4> parts{
      {{"step", &impact.step},
       {"duty", &impact.duty},
       {"communication", &impact.communication},
       {"memory", &impact.memory}}};
  std::vector<std::string> words;
  for (const auto& [name, text] : parts) {
    if (!text->empty()) {
      words.push_back(fmt::format("{} {}", name, *text));
    }
  }
  return join(words, "; ");
}

std::string violations_text(const std::vector<describe::Violation>& violations) {
  std::vector<std::string> parts;
  for (const describe::Violation& violation : violations) {
    parts.push_back(fmt::format("{}: {}", violation.rule, violation.message));
  }
  return join(parts, "; ");
}

// "mesh, layout and setting that it asks for".
std::string change_text(const Judged& judged) {
  std::vector<std::string> parts;
  for (const std::string* part :
       {&judged.mesh, &judged.proposal.change.layout, &judged.proposal.change.setting}) {
    if (!part->empty() && std::ranges::find(parts, *part) == parts.end()) {
      parts.push_back(*part);
    }
  }
  return join(parts, "; ");
}

// What is to be copied stays on one line; a parameter in it is not spelled yet, and must not be
// cut.
std::string command_line(const std::string& command, const Style& style) {
  const std::string plain = shown_text(command, kMostTuneText, style);
  return style.format == Format::kMarkdown
             ? fmt::format("- run: `{}`\n", plain)
             : fmt::format("{}{}\n", bold(fmt::format("{:<{}}", "run", kLabelWidth), style), plain);
}

// Words that are longer than a line, such as layouts, are broken behind their commas.
std::string with_breaks(const std::string& text) {
  constexpr std::size_t kLongestWord = kTuneWidth - kLabelWidth;
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ' ')) {
    std::string line;
    for (const std::string_view part : split(word, word.size() > kLongestWord ? ',' : ' ')) {
      const bool is_last = part.end() == word.end();
      if (!line.empty() && line.size() + part.size() + 1 > kLongestWord) {
        words.push_back(std::move(line));
        line.clear();
      }
      line += part;
      line += is_last ? "" : ",";
    }
    words.push_back(std::move(line));
  }
  return join(words, " ");
}

}  // namespace

std::string labelled_text(std::string_view label, std::string_view text, const Style& style) {
  const std::string plain = shown_text(text, kMostTuneText, style);
  if (plain.empty()) {
    return {};
  }
  if (style.format == Format::kMarkdown) {
    return fmt::format("- {}: {}\n", label, plain);
  }
  const std::string indent(kLabelWidth, ' ');
  const std::string lines = in_lines(with_breaks(plain), indent, kTuneWidth);
  return bold(fmt::format("{:<{}}", label, kLabelWidth), style) + lines.substr(kLabelWidth);
}

std::size_t tune_rows(const TuneAnswer& answer, std::size_t all) {
  return answer.top ? std::min(all, static_cast<std::size_t>(*answer.top)) : all;
}

std::string tune_analysis_text(const TuneAnswer& answer, const Style& style) {
  const Analysis& analysis = answer.report.analysis;
  const bool verbose = answer.verbose;
  std::string text = verbose ? facts_with_sources(analysis, style)
                             : labelled_text("run", known_facts(analysis), style);
  text += labelled_text("unknown", unknown_facts(analysis), style);
  text += labelled_text("figures", kpi_words(analysis, verbose), style);
  text += labelled_text("held up by", hypothesis_words(analysis), style);
  text += labelled_text("cause", analysis.root_cause, style);
  if (verbose) {
    for (const std::string& line : analysis.correlation) {
      text += labelled_text("together", line, style);
    }
  }
  text += operators_text(answer, style);
  if (verbose) {
    for (const std::string& line : analysis.notes) {
      text += labelled_text("note", line, style);
    }
  }
  return text;
}

std::string tune_proposal_text(std::string_view head, const Judged& judged, bool verbose,
                               const Style& style) {
  const verify::Proposal& proposal = judged.proposal;
  const verify::Verdict& verdict = judged.verdict;
  const std::string author =
      proposal.author.empty() || proposal.author == "built-in"
          ? ""
          : fmt::format(" (of {})", shown_text(proposal.author, kMostName, style));
  const std::string title =
      fmt::format("{}{}", shown_text(proposal.title, 2 * kMostName, style), author);
  std::string text = style.format == Format::kMarkdown
                         ? fmt::format("\n### {} {}\n\n", head, title)
                         : fmt::format("\n{} {}\n", bold(head, style), bold(title, style));
  text += labelled_text("change", change_text(judged), style);
  text += labelled_text("layout", judged.layout == judged.mesh ? "" : judged.layout, style);
  const std::string ruling = ruling_text(verdict, {Format::kTable, false});
  text += labelled_text(
      "verdict", verdict.reason.empty() ? ruling : fmt::format("{}: {}", ruling, verdict.reason),
      style);
  text += labelled_text("breaks", violations_text(verdict.broken), style);
  text += labelled_text("missing", join(verdict.missing, "; "), style);
  text += labelled_text("because", proposal.reasoning.bottleneck, style);
  text += labelled_text("memory", proposal.reasoning.memory, style);
  text += labelled_text("compared", proposal.reasoning.comparison, style);
  text += labelled_text("expected", impact_text(judged.impact), style);
  text += labelled_text("claims", claims_text(verdict, verbose), style);
  text += labelled_text("but", join(proposal.trade_offs, "; "), style);
  text += labelled_text("cites", citations_text(judged, verbose), style);
  if (judged.confidence) {
    text += labelled_text("confidence",
                          fmt::format("{:.0f} % of the first of such proposals were faster where "
                                      "that was measured",
                                      100.0 * *judged.confidence),
                          style);
  }
  for (const std::string& command : judged.run) {
    text += command_line(command, style);
  }
  return text;
}

std::string tune_brief_text(const Judged& judged, const Style& style) {
  const verify::Verdict& verdict = judged.verdict;
  const std::string_view ruling =
      describe::word_of<verify::Ruling>(verify::kRulingWords, verdict.ruling);
  const std::string what = change_text(judged);
  return labelled_text("not",
                       fmt::format("{}: {}: {}", what.empty() ? judged.proposal.title : what,
                                   ruling, verdict.reason),
                       style);
}

}  // namespace sextant::explain
