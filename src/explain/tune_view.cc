#include "explain/tune_view.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/shown_text.h"
#include "explain/text_table.h"
#include "explain/tune_json.h"
#include "explain/tune_sections.h"

namespace sextant::explain {
namespace {

using agents::Judged;

constexpr std::size_t kMostCell = 80;

std::string section_head(std::string_view title, const Style& style) {
  return style.format == Format::kMarkdown ? fmt::format("\n## {}\n", title)
                                           : fmt::format("\n{}\n", bold(title, style));
}

std::string proposals_table(const agents::Report& report, const Style& style) {
  Table table{{{"place", true}, {"mesh"}, {"change"}, {"ruling"}, {"reason"}, {"author"}}, {}};
  const auto add = [&](const std::string& place, const Judged& one) {
    table.rows.push_back(
        {place, shown_text(one.mesh, kMostCell, style),
         shown_text(one.proposal.change.layout.empty() ? one.proposal.change.setting
                                                       : one.proposal.change.layout,
                    kMostCell, style),
         std::string(describe::word_of<verify::Ruling>(verify::kRulingWords, one.verdict.ruling)),
         shown_text(one.verdict.reason, 4 * kMostCell, style),
         shown_text(one.proposal.author, kMostCell, style)});
  };
  for (std::size_t i = 0; i < report.proposals.size(); ++i) {
    add(fmt::format("{}", i + 1), report.proposals[i]);
  }
  for (const std::vector<Judged>* others : {&report.ideas, &report.turned_down}) {
    for (const Judged& one : *others) {
      add("", one);
    }
  }
  return to_text(table, style);
}

std::string proposals_text(const TuneAnswer& answer, const Style& style) {
  const agents::Report& report = answer.report;
  std::string text;
  if (report.keep) {
    text += section_head("Keep it", style) + labelled_text("why", *report.keep, style);
  }
  if (!report.proposals.empty()) {
    text += section_head("Proposals", style);
  }
  for (std::size_t i = 0; i < report.proposals.size(); ++i) {
    text +=
        tune_proposal_text(fmt::format("{}.", i + 1), report.proposals[i], answer.verbose, style);
  }
  if (report.fewer && !report.keep) {
    text += "\n" + labelled_text("fewer", *report.fewer, style);
  }
  if (!report.ideas.empty()) {
    text += section_head("Your ideas", style);
    for (const Judged& idea : report.ideas) {
      text += tune_proposal_text("-", idea, answer.verbose, style);
    }
  }
  if (!report.turned_down.empty()) {
    text += section_head("Turned down", style);
    const std::size_t rows = tune_rows(answer, report.turned_down.size());
    for (const Judged& one : std::span(report.turned_down).first(rows)) {
      text +=
          answer.verbose ? tune_proposal_text("-", one, true, style) : tune_brief_text(one, style);
    }
  }
  return text;
}

// What the judge turned down is no advice: in brief.
std::string added_text(const std::vector<Judged>& added, bool verbose, const Style& style) {
  std::string text;
  for (const Judged& one : added) {
    text += one.verdict.stands() || verbose ? tune_proposal_text("+", one, verbose, style)
                                            : "\n" + tune_brief_text(one, style);
  }
  return text;
}

std::string question_text(const ModelQuestion& asked, bool verbose, const Style& style) {
  std::string text = "\n" + labelled_text("asked", printable(asked.question, 4096), style) +
                     labelled_text("said", printable(asked.said, 4096), style);
  return text + added_text(asked.added, verbose, style);
}

// What a language model added, each with its verdict.
std::string model_text(const TuneAnswer& answer, const Style& style) {
  if (!answer.model) {
    return {};
  }
  const ModelPart& model = *answer.model;
  std::string text = section_head("Added by the model", style);
  text += labelled_text("said", printable(model.summary, 4096), style);
  text += added_text(model.added, answer.verbose, style) + "\n";
  if (model.added.empty()) {
    text += labelled_text("added", "nothing that is not proposed above", style);
  }
  if (model.agreed > 0) {
    text += labelled_text(
        "agreed", fmt::format("{} of its proposals are among those above", model.agreed), style);
  }
  text += labelled_text("ended", model.cut_short.value_or(""), style);
  for (const ModelQuestion& one : model.questions) {
    text += question_text(one, answer.verbose, style);
  }
  text += labelled_text("searched", model.retrieval, style);
  return text + labelled_text("cost", model.cost, style);
}

std::string foot_text(const TuneAnswer& answer, const Style& style) {
  constexpr std::size_t kFewAssumed = 4;
  std::string text = "\n";
  if (answer.fallback) {
    text += labelled_text("engine", fmt::format("{}: {}", answer.engine, *answer.fallback), style);
  } else if (answer.engine != "built-in") {
    text += labelled_text("engine", answer.engine, style);
  }
  const std::size_t shown =
      answer.verbose ? answer.assumed.size() : std::min(kFewAssumed, answer.assumed.size());
  for (std::size_t i = 0; i < shown; ++i) {
    text += labelled_text("assumed", describe::to_text(answer.assumed[i]), style);
  }
  if (shown < answer.assumed.size()) {
    text += labelled_text("assumed",
                          fmt::format("{} more (‹verbose›)", answer.assumed.size() - shown), style);
  }
  if (!answer.session.empty()) {
    text += labelled_text("log", fmt::format("«tune» log show {}", answer.session), style);
  }
  return text == "\n" ? "" : text;
}

}  // namespace

std::string to_text(const TuneAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return tune_json(answer);
  }
  if (!answer.would_send.empty()) {
    return answer.would_send;
  }
  if (answer.only_last_question && answer.model && !answer.model->questions.empty()) {
    return question_text(answer.model->questions.back(), answer.verbose, style);
  }
  return style.format == Format::kCsv
             ? proposals_table(answer.report, style)
             : tune_analysis_text(answer, style) + proposals_text(answer, style) +
                   model_text(answer, style) + foot_text(answer, style);
}

}  // namespace sextant::explain
