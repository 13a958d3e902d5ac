#include "explain/compare_view.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "explain/estimate_json.h"
#include "explain/fitted.h"
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

// The first that has an answer: what the others are measured by.
const step::Estimate* reference_of(const CompareAnswer& answer) {
  for (const Candidate& candidate : answer.candidates) {
    if (candidate.result) {
      return &*candidate.result;
    }
  }
  return nullptr;
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
      [&](const step::Estimate& r) {
        return fmt::format("{:.2f} x", step::speed_against(r, reference));
      },
      table);
  std::vector<std::string> intervals{"80 % interval of it"};
  for (const Candidate& candidate : answer.candidates) {
    const std::optional<step::Difference>& by = candidate.difference;
    intervals.push_back(by ? fmt::format("{:.2f} … {:.2f} x", by->low, by->high) : "-");
  }
  table.rows.push_back(std::move(intervals));
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

// What is known of the difference between the best and whom it is measured by.
std::string difference_words(const CompareAnswer& answer) {
  if (!answer.advantage || answer.advantage->spread_class.empty()) {
    return {};
  }
  const step::Difference& by = *answer.advantage;
  std::string text = fmt::format(
      "the 80 % interval of the difference is {:.2f} … {:.2f} x ({}): {}\n", by.low, by.high,
      by.spread_class,
      by.verdict() == step::Verdict::kEven ? "which is faster cannot be told"
                                           : "it is faster beyond what predictions err");
  if (!by.outside.empty()) {
    text += fmt::format("not among what was measured: {}\n", join(by.outside, ", "));
  }
  return text;
}

Json difference_json(const std::optional<step::Difference>& of) {
  if (!of) {
    return nullptr;
  }
  return {{"speed_ratio", of->speed},
          {"interval", {of->low, of->high}},
          {"class", of->spread_class.empty() ? Json(nullptr) : Json(of->spread_class)},
          {"outside", of->outside},
          {"verdict", describe::word_of<step::Verdict>(step::kVerdictWords, of->verdict())}};
}

std::string compare_verdict(const CompareAnswer& answer, const Style& style) {
  const std::optional<std::size_t>& best = answer.comparison.best;
  if (!best) {
    return bad("none of them can run", style) + "\n";
  }
  const std::optional<step::Advantage>& advantage = answer.comparison.advantage;
  if (!advantage) {
    return fmt::format("{} is the only one that runs\n", bold(letter(*best), style));
  }
  return fmt::format(
      "{} is the fastest, {:.2f} x the speed of {}: {} shrinks most, by {} (the step by {})\n{}",
      bold(letter(advantage->best), style), advantage->speed, letter(advantage->other),
      advantage->term.name, to_text(advantage->shorter), to_text(advantage->saved),
      difference_words(answer));
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
      row["speed_ratio"] = step::speed_against(*candidate.result, *reference);
      row["difference"] = difference_json(candidate.difference);
      row.update(step_json(*candidate.result));
    }
    list.push_back(std::move(row));
  }
  const std::optional<std::size_t>& best = answer.comparison.best;
  json["best"] = best ? Json(*best) : Json(nullptr);
  const std::optional<step::Advantage>& advantage = answer.comparison.advantage;
  json["advantage"] = advantage ? Json{{"against", advantage->other},
                                       {"term", advantage->term.key},
                                       {"shorter_s", advantage->shorter.base()},
                                       {"saved_s", advantage->saved.base()}}
                                : Json(nullptr);
  json["difference"] = difference_json(answer.advantage);
  json["assumed"] = to_json(answer.assumed);
  return dumped(json);
}

}  // namespace

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
  return fitted(text, style);
}

}  // namespace sextant::explain
