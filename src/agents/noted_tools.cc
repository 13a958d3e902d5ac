#include "agents/noted_tools.h"

#include <utility>

#include <fmt/format.h>

#include "agents/proposal_text.h"
#include "base/quantity_text.h"
#include "base/text.h"
#include "describe/layout/layout_text.h"

namespace sextant::agents {
namespace {

using kb::EventKind;

template <typename T>
std::string failed(const Result<T>& result) {
  return "error: " + sextant::to_text(result.error());
}

std::string row_line(const search::PlanRow& row) {
  return fmt::format("{}: step {}", row.words, to_text(row.result.step.step));
}

std::string question_text(const kb::Question& question) {
  std::vector<std::string> parts;
  for (const kb::Bottleneck bottleneck : question.about.bottlenecks) {
    parts.emplace_back(describe::word_of<kb::Bottleneck>(kb::kBottleneckWords, bottleneck));
  }
  for (const kb::Theme theme : question.about.axes) {
    parts.emplace_back(describe::word_of<kb::Theme>(kb::kThemeWords, theme));
  }
  for (const auto* list : {&question.about.changes, &question.about.devices}) {
    parts.insert(parts.end(), list->begin(), list->end());
  }
  return fmt::format("search, at most {}: '{}' about {}", question.limit, question.words,
                     join(parts, ", "));
}

}  // namespace

void NotedTools::note(EventKind kind, std::string text) const {
  if (tools_.note) {
    tools_.note(kind, std::move(text));
  }
}

Result<std::vector<search::PlanRow>> NotedTools::plan(std::size_t most) const {
  if (!tools_.plan) {
    return std::vector<search::PlanRow>();
  }
  note(EventKind::kToolCall, fmt::format("plan, at most {}", most));
  auto rows = tools_.plan(most);
  if (!rows) {
    note(EventKind::kReply, failed(rows));
    return rows;
  }
  std::vector<std::string> lines;
  for (const search::PlanRow& row : *rows) {
    lines.push_back(row_line(row));
  }
  note(EventKind::kReply, lines.empty() ? "no plan" : join(lines, "\n"));
  return rows;
}

Result<std::optional<search::PlanPath>> NotedTools::path(const describe::Layout& to) const {
  if (!tools_.path) {
    return std::optional<search::PlanPath>();
  }
  note(EventKind::kToolCall, fmt::format("path to {}", describe::to_text(to)));
  auto path = tools_.path(to);
  if (!path) {
    note(EventKind::kReply, failed(path));
    return tl::unexpected(std::move(path.error()));
  }
  std::vector<std::string> lines;
  for (const search::PlanStep& step : path->steps) {
    lines.push_back(
        fmt::format("{}: {} -> {}", step.change, to_text(step.before), to_text(step.after)));
  }
  note(EventKind::kReply, lines.empty() ? "no change is worth making" : join(lines, "\n"));
  return std::optional(std::move(*path));
}

Result<std::vector<kb::Entry>> NotedTools::search(const kb::Question& question) const {
  if (!tools_.search) {
    return std::vector<kb::Entry>();
  }
  note(EventKind::kToolCall, question_text(question));
  auto entries = tools_.search(question);
  if (!entries) {
    note(EventKind::kReply, failed(entries));
    return entries;
  }
  std::vector<std::string> lines;
  for (const kb::Entry& entry : *entries) {
    lines.push_back(fmt::format("{}: {}", entry.id, entry.title));
  }
  note(EventKind::kReply, lines.empty() ? "nothing" : join(lines, "\n"));
  return entries;
}

Result<std::optional<step::Estimate>> NotedTools::estimate(std::string_view layout) const {
  if (!tools_.estimate) {
    return std::optional<step::Estimate>();
  }
  note(EventKind::kToolCall, fmt::format("estimate {}", layout));
  auto estimate = tools_.estimate(layout);
  if (!estimate) {
    note(EventKind::kReply, failed(estimate));
    return tl::unexpected(std::move(estimate.error()));
  }
  note(EventKind::kReply, fmt::format("step {}", to_text(estimate->step.step)));
  return std::optional(std::move(*estimate));
}

verify::Verdict NotedTools::judge(const verify::Proposal& proposal,
                                  const describe::Layout* at) const {
  note(EventKind::kProposal, proposal_text(proposal));
  verify::Verdict verdict = at == nullptr ? tools_.judge(proposal) : tools_.judge_at(proposal, *at);
  note(EventKind::kVerdict, verdict_text(verdict));
  return verdict;
}

void NotedTools::judged(const verify::Proposal& proposal, const verify::Verdict& verdict) const {
  note(EventKind::kProposal, proposal_text(proposal));
  note(EventKind::kVerdict, verdict_text(verdict));
}

}  // namespace sextant::agents
