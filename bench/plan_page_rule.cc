// The Megatron rule against the search.
#include <algorithm>
#include <iostream>
#include <vector>

#include <fmt/format.h>

#include "base/statistics.h"
#include "plan_page.h"
#include "plan_scenarios.h"
#include "recommended_scenario.h"
#include "search/baselines/baselines.h"

namespace sextant::bench {
namespace {

// What is recommended for the scenarios, as a section.
struct RecommendedRows {
  std::string table =
      "| model | cluster | recommended | gives up | plain stages, at most 8 chunks |\n"
      "|---|---|---|---|---|\n";
  std::size_t scenarios = 0;
  std::size_t same = 0;          // the fastest
  std::size_t odd = 0;           // stages of different lengths, or more than eight chunks
  std::size_t odd_for_less = 0;  // though a plain one gives up no more than is allowed

  void add(const tests::Scenario& scenario, const tests::RecommendedScenario& answer,
           double given_up) {
    const double fastest = answer.fastest.time.step.base();
    const auto over = [&](const search::Plan& plan) {
      return plan.time.step.base() / fastest - 1.0;
    };
    ++scenarios;
    same += answer.recommended.layout == answer.fastest.layout ? 1 : 0;
    odd += answer.is_odd ? 1 : 0;
    odd_for_less += answer.plain && over(*answer.plain) <= given_up ? 1 : 0;
    table +=
        fmt::format("| {} | {} | {} | {:.1f} % | {} |\n", scenario.model, scenario.cluster,
                    short_text(answer.recommended.layout), over(answer.recommended) * 100.0,
                    !answer.is_odd ? "so it is"
                    : answer.plain ? fmt::format("give up {:.1f} %", over(*answer.plain) * 100.0)
                                   : "none fits");
  }

  [[nodiscard]] std::string text(double given_up) const {
    return fmt::format(
        "\n## Recommended\n\nOf the same {} scenarios, what `plan` opens with: the simplest layout "
        "that gives up at most {:.0f} % of the fastest's step ([search.md](models/search.md)). {} "
        "of them are the fastest itself; {} have stages of different lengths or more than eight "
        "chunks a rank, {} of these where a layout with neither would give up no more.\n\n{}",
        scenarios, given_up * 100.0, same, odd, odd_for_less, table);
  }
};

}  // namespace

std::string rule_section(const app::Context& context) {
  constexpr double kPaper = 1.36;
  std::string table =
      "| model | cluster | batch × tokens | rule | s | plan | s | gain | by term, ms |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  std::vector<double> gains;
  std::string none;
  const auto spreads = describe::difference_spreads(context.data);
  RecommendedRows recommended;
  for (const tests::Scenario& scenario : tests::plan_scenarios()) {
    std::cerr << scenario.model << " on " << scenario.cluster << "\n";
    const auto problem = tests::problem_of(scenario, context);
    if (!problem) {
      none += fmt::format("- {} on {}: {}\n", scenario.model, scenario.cluster,
                          to_text(problem.error()));
      continue;
    }
    const search::BaselineResult rule = search::megatron_rule(*problem);
    const auto answer = tests::recommended_scenario(*problem, *spreads);
    if (answer) {
      recommended.add(scenario, *answer, search::most_given_up(*spreads));
    }
    if (!rule.plan || !answer) {
      none += fmt::format("- {} on {}: {}\n", scenario.model, scenario.cluster,
                          !answer ? "nothing fits" : "the rule finds nothing that fits");
      continue;
    }
    const search::Plan& plan = answer->fastest;
    gains.push_back(rule.plan->time.step / plan.time.step);
    table += fmt::format("| {} | {} | {} × {} | {} | {:.3f} | {} | {:.3f} | {:.2f}× | {} |\n",
                         scenario.model, scenario.cluster, scenario.batch, scenario.sequence,
                         short_text(rule.plan->layout), rule.plan->time.step / 1_s,
                         short_text(plan.layout), plan.time.step / 1_s, gains.back(),
                         terms_apart(rule.plan->time, plan.time));
  }
  const auto above =
      std::count_if(gains.begin(), gains.end(), [&](double g) { return g > kPaper; });
  std::string text = "## Against the Megatron rule, predicted\n\n";
  if (!gains.empty()) {
    text += fmt::format(
        "{} scenarios: the plan is {:.2f}× as fast as the rule's layout at least, {:.2f}× in the "
        "median, {:.2f}× at most; {} of them above 1.36×, the best that ConfigTuner's paper "
        "reports.\n\n",
        gains.size(), *std::min_element(gains.begin(), gains.end()), median(gains).value_or(0.0),
        *std::max_element(gains.begin(), gains.end()), above);
  }
  text +=
      "The rule (`megatron_rule.cc`): tensor parallelism inside the node and then stages until the "
      "model fits, data parallelism for the rest, the fastest of 1, 2 and 4 sequences a "
      "microbatch. By term: what the plan's step has more (+) or less (−) of than the rule's; "
      "`x sent` is communication of axis x that nothing hides.\n\n" +
      table;
  if (!none.empty()) {
    text += "\nWithout an answer:\n\n" + none;
  }
  text += recommended.text(search::most_given_up(*spreads));
  return text;
}

}  // namespace sextant::bench
