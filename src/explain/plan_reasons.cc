// Why a layout lost, what is worth changing, why there is no plan, other numbers of devices.
#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "explain/percent.h"
#include "explain/plan_parts.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

using sextant::to_text;

// From the winner's step to the other's, term by term.
std::string waterfall(const step::Estimate& from, const step::Estimate& to, const Style& style) {
  Table table{{{"from the fastest to it"}, {"fastest", true}, {"it", true}, {"longer", true}}, {}};
  for (const TermChange& change : term_changes(from.step, to.step)) {
    if (change.term.time > Seconds() || change.longer > Seconds()) {
      table.rows.push_back({std::string(change.term.name), to_text(change.term.time),
                            to_text(change.term.time + change.longer), signed_text(change.longer)});
    }
  }
  table.rows.push_back({"step", to_text(from.step.step), to_text(to.step.step),
                        signed_text(to.step.step - from.step.step)});
  return to_text(table, style);
}

std::string listed(const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& one : texts) {
    text += fmt::format("  {}\n", one);
  }
  return text;
}

std::string asked_verdict(const PlanAnswer& answer, const search::PlanRow& row) {
  const Seconds step = row.result.step.step;
  const step::Estimate& best = answer.plans.front().result;
  if (row.layout == answer.chosen().layout) {
    return "it is the plan";
  }
  if (row.layout == answer.plans.front().layout) {
    return "it is the fastest";
  }
  if (step <= best.step.step) {
    return fmt::format("it takes {}, {} against the fastest", to_text(step),
                       signed_percent(step / best.step.step - 1.0));
  }
  return fmt::format("it takes {} ({} against the fastest), {}: {}", to_text(step),
                     signed_percent(step / best.step.step - 1.0), interval_words(answer, row),
                     decision_text(best, row.result));
}

}  // namespace

std::string why_not_text(const PlanAnswer& answer, const Style& style) {
  if (!answer.why_not) {
    return {};
  }
  const search::WhyNot& asked = *answer.why_not;
  std::string text = fmt::format("why not {}\n", bold(answer.asked, style));
  if (!asked.row) {
    return text + bad("not legal", style) + ":\n" + listed(violation_texts(asked.broken));
  }
  const step::Estimate& result = asked.row->result;
  for (const search::Outside& outside : asked.outside) {
    text += fmt::format("not searched: {}\n", outside_text(outside));
  }
  if (asked.missing > Bytes()) {
    text += fmt::format("{}: pipeline rank {} needs {}, {} are there; {} missing\n",
                        bad("does not fit", style), result.memory.fullest.pipeline_rank,
                        to_text(result.memory.fullest.device), to_text(answer.limit),
                        to_text(asked.missing));
  }
  if (answer.plans.empty()) {
    return text;
  }
  return text + asked_verdict(answer, *asked.row) + "\n" +
         waterfall(answer.plans.front().result, result, style);
}

std::string path_text(const PlanAnswer& answer, const Style& style) {
  if (!answer.path) {
    return {};
  }
  const search::PlanPath& path = *answer.path;
  std::string text = fmt::format("now        {}\n", path.start.words);
  if (!path.broken.empty()) {
    return text + bad("not legal", style) + ":\n" + listed(violation_texts(path.broken));
  }
  text += fmt::format("           {}\n", with_interval(path.start.result));
  if (const auto& measured = path.measured) {
    text += fmt::format(
        "           measured {}: times of changes are predicted ones times {:.3g}, as the log "
        "says\n",
        to_text(*measured), path.scale);
  }
  if (path.missing > Bytes()) {
    text +=
        fmt::format("{}: {} over the limit\n", bad("does not fit", style), to_text(path.missing));
  }
  if (path.steps.empty()) {
    return text + "no change of it gains half a percent\n";
  }
  Table table{{{"change"}, {"step", true}, {"gain", true}, {"", true}}, {}};
  std::string settings;
  for (std::size_t i = 0; i < path.steps.size(); ++i) {
    const search::PlanStep& step = path.steps[i];
    if (i < answer.path_words.size() && !answer.path_words[i].empty()) {
      settings += fmt::format("  {}: {}\n", step.change, answer.path_words[i]);
    }
    table.rows.push_back({step.change, to_text(step.after), to_text(step.before - step.after),
                          percent((step.before - step.after) / step.before)});
  }
  const Seconds before = path.start.result.step.step * path.scale;
  const Seconds after = path.end.result.step.step * path.scale;
  table.rows.push_back(
      {"all of them", to_text(after), to_text(before - after), percent((before - after) / before)});
  text += to_text(table, style);
  text += settings.empty() ? "" : "in your own settings:\n" + settings;
  return text + fmt::format("gives {}\n", path.end.words);
}

std::string freed_text(const PlanAnswer& answer, const Style& style) {
  if (answer.freed.empty()) {
    return {};
  }
  Table table{{{"freed: changes convergence"},
               {"step", true},
               {"tokens/s", true},
               {"tokens/J", true},
               {""},
               {"layout"}},
              {}};
  for (const search::PlanFreed& freed : answer.freed) {
    if (!freed.row) {
      table.rows.push_back({freed.what, "-", "-", "-", "nothing is legal and fits", ""});
      continue;
    }
    const step::Estimate& result = freed.row->result;
    table.rows.push_back({freed.what, to_text(result.step.step),
                          short_number(result.tokens_per_second().base()),
                          result.energy ? fmt::format("{:.4g}", result.tokens_per_joule()) : "-",
                          freed.chosen ? "chosen" : "", freed.row->words});
  }
  return to_text(table, style);
}

std::string counts_text(const PlanAnswer& answer, const Style& style) {
  if (answer.counts.empty()) {
    return {};
  }
  Table table{{{"devices", true},
               {"step", true},
               {"days", true},
               {"device-hours", true},
               {"cost", true},
               {""},
               {"layout"}},
              {}};
  for (const search::PlanCount& count : answer.counts) {
    if (!count.row) {
      table.rows.push_back({std::to_string(count.devices), "-", "-", "-", "-", "nothing fits", ""});
      continue;
    }
    const auto& run = count.training;
    table.rows.push_back({std::to_string(count.devices), to_text(count.row->result.step.step),
                          run ? fmt::format("{:.3g}", run->time / 1_days) : "-",
                          run ? short_number(run->device_hours()) : "-",
                          run && run->price ? short_number(run->device_hours() * *run->price) : "-",
                          count.meets ? "" : "too slow", count.row->words});
  }
  return to_text(table, style);
}

std::string none_text(const PlanAnswer& answer, const Style& style) {
  if (!answer.complete) {
    return bad("stopped before a plan was found", style) + "\n";
  }
  std::string text = bad("no layout can run", style) + "\n";
  if (!answer.none) {
    return text;
  }
  const search::NoPlan& none = *answer.none;
  if (!none.leanest) {
    text += answer.fixed.empty()
                ? "no layout of this space is legal for these devices and this batch\n"
                : fmt::format("the fixed keys {} contradict each other or the job\n",
                              join(answer.fixed, ", "));
    text += listed(violation_texts(none.broken));
    text += none.freed.empty()
                ? ""
                : fmt::format("freed alone, there are layouts: {}\n", join(none.freed, ", "));
    return text;
  }
  text += fmt::format("memory is short: even {} needs {} of {}; {} missing\n", none.leanest->words,
                      to_text(none.leanest->result.memory.fullest.device), to_text(answer.limit),
                      to_text(none.missing));
  text += none.changes.empty() ? "nothing that was tried makes it fit\n"
                               : "the nearest that fits:\n" + listed(remedy_texts(none.changes));
  return text;
}

}  // namespace sextant::explain
