// The tables of a plan's answer: what bounds the winner, what would move it, the runners-up.
#include <algorithm>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "explain/percent.h"
#include "explain/plan_parts.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

using sextant::to_text;

struct PlanColumns {
  bool people = true;  // else CSV
  bool energy = false;
  Seconds best;
};

std::vector<std::string> plan_cells(const std::string& name, const search::PlanRow& row,
                                    const PlanColumns& columns) {
  const step::Estimate& result = row.result;
  const Seconds step = result.step.step;
  const Bytes memory = result.memory.fullest.device;
  const double ratio = step / columns.best;
  std::vector<std::string> cells{name, mesh_text(row), std::to_string(row.layout.mbs)};
  if (columns.people) {
    cells.insert(cells.end(), {to_text(step), name == "1" ? "" : signed_percent(ratio - 1.0),
                               to_text(memory), percent(result.use.mfu())});
  } else {
    cells.insert(cells.end(),
                 {fmt::format("{:.9g}", step.base()), fmt::format("{:.9g}", ratio),
                  fmt::format("{:.0f}", memory.base()), fmt::format("{:.9g}", result.use.mfu())});
  }
  if (columns.energy) {
    cells.push_back(result.energy ? fmt::format("{:.4g}", result.tokens_per_joule()) : "-");
  }
  if (!columns.people) {
    cells.push_back(row.words);
  }
  return cells;
}

Table plans_table(const PlanAnswer& answer, const Style& style) {
  const PlanColumns columns{
      .people = style.format != Format::kCsv,
      .energy = answer.objective == "energy",
      .best = answer.plans.empty() ? Seconds(1.0) : answer.plans.front().result.step.step};
  const bool people = columns.people;
  Table table{{{"#", true},
               {"mesh"},
               {"mbs", true},
               {people ? "step" : "step_time_s", true},
               {people ? "against the first" : "ratio", true},
               {people ? "memory" : "memory_bytes", true},
               {people ? "MFU" : "utilisation", true}},
              {}};
  if (columns.energy) {
    table.columns.push_back({people ? "tokens/J" : "tokens_per_J", true});
  }
  if (!people) {
    table.columns.push_back({"layout"});
  }
  const auto is_plan = [&](const search::PlanRow& row) {
    return people && row.layout == answer.chosen().layout;
  };
  if (people && std::ranges::none_of(answer.plans, is_plan) && !answer.plans.empty()) {
    table.rows.push_back(plan_cells("plan", answer.chosen(), columns));
  }
  for (std::size_t i = 0; i < answer.plans.size(); ++i) {
    const std::string name = i > 0 && is_plan(answer.plans[i]) ? "plan" : std::to_string(i + 1);
    table.rows.push_back(plan_cells(name, answer.plans[i], columns));
  }
  return table;
}

// One sentence a runner-up.
std::string decisions(const PlanAnswer& answer) {
  std::string text;
  const search::PlanRow& best = answer.plans.front();
  for (std::size_t i = 1; i < answer.plans.size(); ++i) {
    const search::PlanRow& row = answer.plans[i];
    const Seconds longer = row.result.step.step - best.result.step.step;
    text += fmt::format("{}  {} against 1: {}; {}\n", i + 1, signed_text(longer),
                        decision_text(best.result, row.result), interval_words(answer, row));
    text += fmt::format("   {}\n", row.words);
  }
  return text;
}

}  // namespace

std::string bounds_text(const search::PlanRow& best, const Style& style) {
  std::vector<step::StepTerm> terms = step::step_terms(best.result.step);
  std::erase_if(terms, [](const step::StepTerm& term) { return term.time <= Seconds(); });
  std::stable_sort(
      terms.begin(), terms.end(),
      [](const step::StepTerm& a, const step::StepTerm& b) { return a.time > b.time; });
  Table table{{{"what bounds it"}, {"time", true}, {"share", true}}, {}};
  for (const step::StepTerm& term : terms) {
    table.rows.push_back(
        {std::string(term.name), to_text(term.time), percent(term.time / best.result.step.step)});
  }
  return to_text(table, style);
}

std::string shifts_text(const PlanAnswer& answer, const Style& style) {
  if (answer.shifts.empty()) {
    return {};
  }
  const search::PlanRow& best = answer.plans.front();
  Table table{{{"what would move the fastest"}, {"step", true}, {"faster", true}, {"layout"}}, {}};
  for (const search::PlanShift& shift : answer.shifts) {
    if (!shift.why_not.empty()) {
      table.rows.push_back({shift.what, "-", "-", shift.why_not});
      continue;
    }
    const bool same = shift.words.empty() || shift.words == best.words;
    table.rows.push_back({shift.what, to_text(shift.step),
                          signed_percent(shift.tokens * (best.result.step.step / shift.step) - 1.0),
                          same ? "the same" : shift.words});
  }
  return to_text(table, style);
}

std::string plans_text(const PlanAnswer& answer, const Style& style) {
  const Table table = plans_table(answer, style);
  if (style.format == Format::kCsv) {
    return to_text(table, style);
  }
  const std::string sentences = decisions(answer);
  return to_text(table, style) + (sentences.empty() ? "" : "\n" + sentences);
}

std::string front_text(const PlanAnswer& answer, const Style& style) {
  if (answer.front.empty()) {
    return {};
  }
  Table table{{{"front: step", true}, {"memory", true}, {"slower", true}, {"layout"}}, {}};
  const Seconds fastest = answer.front.front().result.step.step;
  for (const search::PlanRow& row : answer.front) {
    const Seconds step = row.result.step.step;
    table.rows.push_back({to_text(step), to_text(row.result.memory.fullest.device),
                          signed_percent(step / fastest - 1.0), row.words});
  }
  return to_text(table, style);
}

}  // namespace sextant::explain
