// The Megatron rule against the search.
#include <algorithm>
#include <iostream>
#include <vector>

#include <fmt/format.h>

#include "base/statistics.h"
#include "plan_page.h"
#include "plan_scenarios.h"
#include "search/baselines/baselines.h"

namespace sextant::bench {
namespace {

using tests::Scenario;

// Batches are what the models' reports or their kin used at that scale: 4 to 16 million tokens for
// large runs, less on few devices.
std::vector<Scenario> rule_scenarios() {
  return {
      {"llama-2-7b", "64xa100-sxm-80g", 512, 4096},
      {"llama-2-7b", "64xh100-sxm", 512, 4096},
      {"llama-3-8b", "128xh100-sxm", 512, 8192},
      {"llama-3-8b", "256xh200-sxm", 512, 8192},
      {"llama-3-8b", "64xb200-sxm", 256, 8192},
      {"llama-2-13b", "128xa100-sxm-80g", 1024, 4096},
      {"llama-2-13b", "128xh800-sxm", 1024, 4096},
      {"gpt-neox-20b", "96xa100-sxm-40g", 1536, 2048},
      {"qwen2.5-32b", "256xh100-sxm", 1024, 4096},
      {"qwen2.5-32b", "128xh800-sxm", 512, 4096},
      {"llama-1-65b", "512xa100-sxm-80g", 2048, 2048},
      {"llama-1-65b", "2048xa100-sxm-80g", 2048, 2048},
      {"llama-3-70b", "64xh100-sxm", 128, 8192},
      {"llama-3-70b", "256xh100-sxm", 512, 8192},
      {"llama-3-70b", "1024xh100-sxm", 2048, 8192},
      {"llama-3-70b", "512xh200-sxm", 1024, 8192},
      {"llama-3-70b", "128xb200-sxm", 256, 8192},
      {"qwen2.5-72b", "512xh800-sxm", 1024, 4096},
      {"mistral-large-2-123b", "512xh100-sxm", 1024, 8192},
      {"gpt-3-175b", "128xa100-sxm-80g", 512, 2048},
      {"gpt-3-175b", "1024xa100-sxm-80g", 1536, 2048},
      {"gpt-3-175b", "512xh100-sxm", 2048, 2048},
      {"bloom-176b", "384xa100-sxm-80g", 1536, 2048},
      {"nemotron-4-340b", "1536xh100-sxm", 2304, 4096},
      {"llama-3.1-405b", "1024xh100-sxm", 512, 8192},
      {"llama-3.1-405b", "8192xh100-sxm", 2048, 8192},
      {"llama-3.1-405b", "16384xh100-sxm", 2048, 8192},
      {"llama-3.1-405b", "1024xb200-sxm", 512, 8192},
      {"megatron-530b", "2240xa100-sxm-80g", 2240, 2048},
      {"megatron-1t", "3072xa100-sxm-80g", 3072, 2048},
      {"megatron-1t", "4096xh100-sxm", 4096, 2048},
      {"mixtral-8x7b", "64xh100-sxm", 256, 4096},
      {"mixtral-8x7b", "256xa100-sxm-80g", 1024, 4096},
      {"mixtral-8x22b", "128xh100-sxm", 256, 4096},
      {"mixtral-8x22b", "512xh800-sxm", 1024, 4096},
      {"qwen3-30b-a3b", "64xh100-sxm", 512, 4096},
      {"qwen3-235b-a22b", "256xh100-sxm", 2048, 4096},
      {"qwen3-235b-a22b", "512xb200-sxm", 4096, 4096},
      {"deepseek-v2-236b", "512xh800-sxm", 2304, 4096},
      {"deepseek-v3-671b", "1024xh100-sxm", 8192, 4096},
      {"deepseek-v3-671b", "2048xh800-sxm", 15360, 4096},
      {"glm-4.5-air-106b-a12b", "256xh200-sxm", 1024, 4096},
      {"kimi-k2-1t", "2048xh800-sxm", 8192, 4096},
      {"kimi-k2-1t", "1024xb200-sxm", 8192, 4096},
  };
}

}  // namespace

std::string rule_section(const app::Context& context) {
  constexpr double kPaper = 1.36;
  std::string table =
      "| model | cluster | batch × tokens | rule | s | plan | s | gain | by term, ms |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  std::vector<double> gains;
  std::string none;
  for (const Scenario& scenario : rule_scenarios()) {
    std::cerr << scenario.model << " on " << scenario.cluster << "\n";
    const auto problem = tests::problem_of(scenario, context);
    if (!problem) {
      none += fmt::format("- {} on {}: {}\n", scenario.model, scenario.cluster,
                          to_text(problem.error()));
      continue;
    }
    const search::BaselineResult rule = search::megatron_rule(*problem);
    const search::Space space(*problem);
    search::FindOptions options;
    options.top = 1;
    const search::Found found = search::find_plans(space, options);
    if (!rule.plan || found.plans.empty()) {
      none +=
          fmt::format("- {} on {}: {}\n", scenario.model, scenario.cluster,
                      found.plans.empty() ? "nothing fits" : "the rule finds nothing that fits");
      continue;
    }
    const search::Plan& plan = found.plans.front();
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
  return text;
}

}  // namespace sextant::bench
