#include "explain/compare_view.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "explain/estimate_json.h"
#include "explain/percent.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

using sextant::to_text;

// A, B, …, Z, AA, …
std::string letter(std::size_t index) {
  const std::string last(1, static_cast<char>('A' + index % 26));
  return index < 26 ? last : letter(index / 26 - 1) + last;
}

// Time of as many tokens as `reference` has a step.
Seconds per_tokens(Seconds time, const step::Estimate& of, const step::Estimate& reference) {
  return time * (reference.tokens / of.tokens);
}

// The first that has an answer: what the others are measured by.
const step::Estimate* reference_of(const CompareAnswer& answer) {
  for (const Candidate& candidate : answer.candidates) {
    if (candidate.result) {
      return &*candidate.result;
    }
  }
  return nullptr;
}

double speed_against(const step::Estimate& result, const step::Estimate& reference) {
  return result.tokens_per_second() / reference.tokens_per_second();
}

std::string memory_word(const step::StepMemory& memory) {
  if (memory.rejection) {
    return to_text(memory.rejection->needed) + " does not fit";
  }
  return to_text(memory.fullest.device) + (memory.tight() ? " tight" : "");
}

using Cell = std::function<std::string(const step::Estimate&)>;

void add_row(std::string name, const CompareAnswer& answer, const Cell& cell, Table& table) {
  std::vector<std::string> row{std::move(name)};
  for (const Candidate& candidate : answer.candidates) {
    row.push_back(candidate.result ? cell(*candidate.result) : "-");
  }
  table.rows.push_back(std::move(row));
}

bool any_has(const CompareAnswer& answer, std::size_t term) {
  return std::any_of(
      answer.candidates.begin(), answer.candidates.end(), [&](const Candidate& candidate) {
        return candidate.result && step::step_terms(candidate.result->step)[term].time > Seconds();
      });
}

Table side_by_side(const CompareAnswer& answer, const step::Estimate& reference) {
  Table table{{{""}}, {}};
  for (std::size_t i = 0; i < answer.candidates.size(); ++i) {
    table.columns.push_back({letter(i), true});
  }
  add_row("step", answer, [](const step::Estimate& r) { return to_text(r.step.step); }, table);
  add_row(
      "80 % interval", answer,
      [](const step::Estimate& r) {
        return r.interval ? fmt::format("{} … {}", to_text(r.low()), to_text(r.high())) : "-";
      },
      table);
  add_row(
      "speed against the first", answer,
      [&](const step::Estimate& r) { return fmt::format("{:.2f} x", speed_against(r, reference)); },
      table);
  add_row(
      "tokens/s a device", answer,
      [](const step::Estimate& r) { return rate_text(r.tokens_per_device()); }, table);
  add_row("MFU", answer, [](const step::Estimate& r) { return percent(r.use.mfu()); }, table);
  add_row(
      "communication overhead", answer,
      [](const step::Estimate& r) { return percent(r.overhead()); }, table);
  const std::vector<step::StepTerm> terms = step::step_terms(reference.step);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (any_has(answer, i)) {
      add_row(
          fmt::format("  {}", terms[i].name), answer,
          [i](const step::Estimate& r) { return to_text(step::step_terms(r.step)[i].time); },
          table);
    }
  }
  add_row("memory", answer, [](const step::Estimate& r) { return memory_word(r.memory); }, table);
  return table;
}

std::string legend(const CompareAnswer& answer, const Style& style) {
  std::string text;
  for (std::size_t i = 0; i < answer.candidates.size(); ++i) {
    const Candidate& candidate = answer.candidates[i];
    text += fmt::format("{}  {}\n", bold(letter(i), style), candidate.name);
    if (!candidate.result) {
      text +=
          fmt::format("   {}\n", bad("not possible", style) + ": " + join(candidate.reasons, "; "));
    } else if (candidate.running() == nullptr) {
      text += fmt::format("   {}\n", bad(memory_text(candidate.result->memory), style));
    }
  }
  return text;
}

std::string compare_verdict(const CompareAnswer& answer, const Style& style) {
  const auto best = best_of(answer);
  if (!best) {
    return bad("none of them can run", style) + "\n";
  }
  const auto advantage = advantage_of(answer);
  if (!advantage) {
    return fmt::format("{} is the only one that runs\n", bold(letter(*best), style));
  }
  return fmt::format(
      "{} is the fastest, {:.2f} x the speed of {}: {} shrinks most, by {} (the step by {})\n",
      bold(letter(advantage->best), style), advantage->speed, letter(advantage->other),
      advantage->term.name, to_text(advantage->shorter), to_text(advantage->saved));
}

std::string compare_json_text(const CompareAnswer& answer) {
  Json json = document("compare", answer.provenance);
  json["model"] = answer.model;
  const step::Estimate* reference = reference_of(answer);
  Json& list = json["candidates"] = Json::array();
  for (const Candidate& candidate : answer.candidates) {
    Json row;
    row["name"] = candidate.name;
    row["layout"] = candidate.layout;
    row["cluster"] = candidate.cluster;
    row["possible"] = candidate.result.has_value();
    row["fits"] = candidate.running() != nullptr;
    row["reasons"] = candidate.reasons;
    if (candidate.result) {
      row["speed_ratio"] = speed_against(*candidate.result, *reference);
      row.update(step_json(*candidate.result));
    }
    list.push_back(std::move(row));
  }
  const auto best = best_of(answer);
  json["best"] = best ? Json(*best) : Json(nullptr);
  const auto advantage = advantage_of(answer);
  json["advantage"] = advantage ? Json{{"against", advantage->other},
                                       {"term", advantage->term.key},
                                       {"shorter_s", advantage->shorter.base()},
                                       {"saved_s", advantage->saved.base()}}
                                : Json(nullptr);
  json["assumed"] = to_json(answer.assumed);
  return dumped(json);
}

}  // namespace

std::optional<std::size_t> best_of(const CompareAnswer& answer) {
  std::optional<std::size_t> best;
  Hertz most;
  for (std::size_t i = 0; i < answer.candidates.size(); ++i) {
    const step::Estimate* result = answer.candidates[i].running();
    if (result != nullptr && (!best || result->tokens_per_second() > most)) {
      best = i;
      most = result->tokens_per_second();
    }
  }
  return best;
}

std::optional<Advantage> advantage_of(const CompareAnswer& answer) {
  const std::size_t best = best_of(answer).value_or(answer.candidates.size());
  if (best == answer.candidates.size()) {
    return std::nullopt;
  }
  // Against the first that runs; if that is the best, against the next best.
  std::size_t other = best;
  const step::Estimate* loser = nullptr;
  for (std::size_t i = 0; i < answer.candidates.size(); ++i) {
    const step::Estimate* result = answer.candidates[i].running();
    if (i == best || result == nullptr) {
      continue;
    }
    if (loser == nullptr ||
        (best < other && result->tokens_per_second() > loser->tokens_per_second())) {
      other = i;
      loser = result;
    }
  }
  const step::Estimate* winner = answer.candidates[best].running();
  if (winner == nullptr || loser == nullptr) {
    return std::nullopt;
  }
  const std::vector<step::StepTerm> mine = step::step_terms(winner->step);
  const std::vector<step::StepTerm> theirs = step::step_terms(loser->step);
  Advantage advantage{best,
                      other,
                      speed_against(*winner, *loser),
                      mine.front(),
                      -winner->step.step,
                      per_tokens(loser->step.step, *loser, *winner) - winner->step.step};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const Seconds shorter = per_tokens(theirs[i].time, *loser, *winner) - mine[i].time;
    if (shorter > advantage.shorter) {
      advantage.shorter = shorter;
      advantage.term = mine[i];
    }
  }
  return advantage;
}

std::string to_text(const CompareAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return compare_json_text(answer);
  }
  const step::Estimate* reference = reference_of(answer);
  if (style.format == Format::kCsv) {
    return reference == nullptr ? std::string() : to_text(side_by_side(answer, *reference), style);
  }
  std::string text = legend(answer, style);
  if (reference != nullptr) {
    text += "\n" + to_text(side_by_side(answer, *reference), style);
  }
  text += "\n" + compare_verdict(answer, style);
  for (const describe::Assumption& assumed : answer.assumed) {
    text += dim("assumed: " + describe::to_text(assumed), style) + "\n";
  }
  return text;
}

}  // namespace sextant::explain
