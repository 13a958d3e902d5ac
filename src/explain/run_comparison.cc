#include "explain/run_comparison.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "explain/json.h"
#include "explain/percent.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

using sextant::to_text;

double tokens_a_device(const step::Estimate& result) {
  return result.tokens / static_cast<double>(result.devices);
}

// Their times for as many tokens a device as our step has.
double scale_of(const RunComparison& runs) {
  return tokens_a_device(runs.ours.predicted) / tokens_a_device(runs.theirs.predicted);
}

// Ours over theirs, for as many tokens a device.
double slowdown(const RunComparison& runs) {
  return runs.ours.measured / (runs.theirs.measured * scale_of(runs));
}

std::string signed_time(Seconds time) {
  return time < Seconds() ? "-" + to_text(-time) : "+" + to_text(time);
}

std::string conclusion(const RunComparison& runs, const std::vector<TermDifference>& list) {
  const double ratio = slowdown(runs);
  const bool slower = ratio >= 1.0;
  const auto most = std::max_element(
      list.begin(), list.end(), [slower](const TermDifference& a, const TermDifference& b) {
        return slower ? a.longer() < b.longer() : a.longer() > b.longer();
      });
  return fmt::format("{} takes {:.2f} times as long a token as {}; most of it: {} ({})\n",
                     runs.ours.name, ratio, runs.theirs.name, most->name,
                     signed_time(most->longer()));
}

Json step_of(const MeasuredStep& step) {
  return {{"name", step.name},
          {"model", step.model},
          {"cluster", step.cluster},
          {"layout", step.layout},
          {"measured_s", step.measured.base()},
          {"predicted_s", step.predicted.step.step.base()}};
}

std::string run_comparison_json_text(const RunComparison& runs,
                                     const std::vector<TermDifference>& list) {
  Json json = document("compare-runs", runs.provenance);
  json["ours"] = step_of(runs.ours);
  json["theirs"] = step_of(runs.theirs);
  json["slowdown"] = slowdown(runs);
  Json& terms = json["terms"] = Json::array();
  for (const TermDifference& term : list) {
    terms.push_back({{"name", term.name},
                     {"ours_s", term.ours.base()},
                     {"theirs_s", term.theirs.base()},
                     {"longer_s", term.longer().base()}});
  }
  json["assumed"] = to_json(runs.assumed);
  return dumped(json);
}

}  // namespace

std::vector<TermDifference> differences(const RunComparison& runs) {
  const double scale = scale_of(runs);
  const std::vector<step::StepTerm> ours = step::step_terms(runs.ours.predicted.step);
  const std::vector<step::StepTerm> theirs = step::step_terms(runs.theirs.predicted.step);
  std::vector<TermDifference> list;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].time > Seconds() || theirs[i].time > Seconds()) {
      list.push_back({std::string(ours[i].name), ours[i].time, theirs[i].time * scale});
    }
  }
  list.push_back({"not in the model", runs.ours.measured - runs.ours.predicted.step.step,
                  (runs.theirs.measured - runs.theirs.predicted.step.step) * scale});
  return list;
}

std::string to_text(const RunComparison& runs, const Style& style) {
  const std::vector<TermDifference> list = differences(runs);
  if (style.format == Format::kJson) {
    return run_comparison_json_text(runs, list);
  }
  Table table{{{"term"}, {runs.ours.name, true}, {runs.theirs.name, true}, {"longer by", true}},
              {}};
  for (const TermDifference& term : list) {
    table.rows.push_back(
        {term.name, to_text(term.ours), to_text(term.theirs), signed_time(term.longer())});
  }
  const Seconds theirs = runs.theirs.measured * scale_of(runs);
  table.rows.push_back({"measured", to_text(runs.ours.measured), to_text(theirs),
                        signed_time(runs.ours.measured - theirs)});
  std::string text = to_text(table, style);
  text += conclusion(runs, list);
  for (const MeasuredStep* step : {&runs.ours, &runs.theirs}) {
    text += fmt::format("{}: {} on {}, {}\n", step->name, step->model, step->cluster, step->layout);
  }
  text += fmt::format("times of {}: for as many tokens a device as {} has a step\n",
                      runs.theirs.name, runs.ours.name);
  for (const describe::Assumption& assumed : runs.assumed) {
    text += fmt::format("assumed: {}\n", describe::to_text(assumed));
  }
  return text;
}

}  // namespace sextant::explain
