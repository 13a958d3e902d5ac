// Alpa against the search, on the space both share.
#include <cmath>
#include <iostream>
#include <vector>

#include <fmt/format.h>

#include "plan_page.h"
#include "plan_scenarios.h"
#include "search/baselines/alpa.h"
#include "simulated_step.h"

namespace sextant::bench {
namespace {

using tests::Scenario;

std::vector<Scenario> alpa_scenarios() {
  const std::string moe = "ep=8,sp=1";
  return {
      {"llama-2-7b", "64xa100-sxm-80g", 256, 4096, "sp=1"},
      {"llama-2-7b", "256xh100-sxm", 1024, 4096, "sp=1"},
      {"llama-2-13b", "64xa100-sxm-80g", 256, 4096, "sp=1"},
      {"llama-2-13b", "256xh100-sxm", 1024, 4096, "sp=1"},
      {"gpt-neox-20b", "96xa100-sxm-40g", 768, 2048, "sp=1"},
      {"megatron-22b", "64xa100-sxm-80g", 256, 2048, "sp=1"},
      {"megatron-22b", "256xa100-sxm-80g", 1024, 2048, "sp=1"},
      {"llama-1-33b", "128xh100-sxm", 512, 2048, "sp=1"},
      {"llama-1-65b", "128xa100-sxm-80g", 512, 2048, "sp=1"},
      {"llama-1-65b", "512xa100-sxm-80g", 2048, 2048, "sp=1"},
      {"llama-3-70b", "128xh100-sxm", 256, 8192, "sp=1"},
      {"llama-3-70b", "512xh100-sxm", 1024, 8192, "sp=1"},
      {"gpt-3-175b", "128xa100-sxm-80g", 512, 2048, "sp=1"},
      {"gpt-3-175b", "512xa100-sxm-80g", 1024, 2048, "sp=1"},
      {"gpt-3-175b", "256xh100-sxm", 1024, 2048, "sp=1"},
      {"megatron-530b", "560xa100-sxm-80g", 1120, 2048, "sp=1,recompute=full"},
      {"megatron-1t", "512xh100-sxm", 1024, 2048, "sp=1,recompute=full"},
      {"mixtral-8x7b", "64xh100-sxm", 256, 4096, moe},
      {"mixtral-8x7b", "256xh100-sxm", 1024, 4096, moe},
      {"mixtral-8x22b", "128xh100-sxm", 256, 4096, moe},
      {"mixtral-8x22b", "512xh100-sxm", 1024, 4096, moe},
      {"qwen3-235b-a22b", "256xh100-sxm", 512, 4096, moe + ",recompute=full"},
      {"qwen3-30b-a3b", "128xh100-sxm", 512, 4096, moe},
      {"deepseek-v2-236b", "256xh800-sxm", 1024, 4096, moe + ",recompute=full"},
      {"grok-1-314b", "256xh100-sxm", 512, 8192, moe + ",recompute=full"},
      {"glm-4.5-air-106b-a12b", "256xh100-sxm", 1024, 4096, moe + ",recompute=full"},
  };
}

constexpr double kCloseShare = 0.005;
constexpr double kFewer = 1000.0;

struct Answers {
  search::Found found;
  search::AlpaResult alpa;
  search::AlpaResult powers;
};

Answers answers_of(const search::Problem& problem) {
  const search::Space space(problem);
  search::FindOptions options;
  options.top = 1;
  return {search::find_plans(space, options), search::alpa(problem, search::Submeshes::kEvery),
          search::alpa(problem, search::Submeshes::kPowersOfTwo)};
}

class AlpaTally {
 public:
  void add(const Scenario& scenario, const search::Problem& problem, const Answers& answers) {
    const search::AlpaResult& alpa = answers.alpa;
    if (!alpa.plan || answers.found.plans.empty()) {
      add_apart(scenario, answers.found.plans.empty() ? "nothing fits" : "Alpa finds nothing");
      return;
    }
    const search::Plan& plan = answers.found.plans.front();
    const auto ours = static_cast<double>(answers.found.calls.total());
    const double fewer = static_cast<double>(alpa.calls.total()) / ours;
    const double of_powers = static_cast<double>(answers.powers.calls.total()) / ours;
    const double slower = alpa.plan->time.step / plan.time.step;
    ++compared_;
    mixed_ += alpa.mixed;
    programs_ += alpa.programs;
    thousand_ += fewer >= kFewer ? 1 : 0;
    thousand_of_powers_ += of_powers >= kFewer ? 1 : 0;
    compare(scenario, problem, plan, *alpa.plan);
    table_ += fmt::format(
        "| {} | {} | {} × {} | {} | {:.3f} | {} | {} | {:.3f} | {} | {:.4f} | {:.0f}× | {:.0f}× "
        "|\n",
        scenario.model, scenario.cluster, scenario.batch, scenario.sequence,
        short_text(plan.layout), plan.time.step / 1_s, answers.found.calls.total(),
        short_text(alpa.plan->layout), alpa.plan->time.step / 1_s, alpa.calls.total(), slower,
        fewer, of_powers);
  }

  void add_apart(const Scenario& scenario, const std::string& why) {
    apart_ += fmt::format("- {} on {}: {}.\n", scenario.model, scenario.cluster, why);
  }

  [[nodiscard]] std::string text() const {
    std::string text = fmt::format(
        "## Against Alpa\n\n"
        "On the space both share: dp, tp, pp and the cuts between stages; everything else as "
        "Megatron Core's recipes have it, one sequence a microbatch, keys of the scenario fixed. "
        "{} scenarios: {} times the same layout, {} times another within 0.5 % of the step, {} "
        "times further apart (listed; in {} of these the simulator of `src/schedule`, which runs "
        "every action of both pipelines, confirms which is faster, in {} also where gradients and "
        "parameters lie on each rank's own simulated timeline). The search asks the leaf at "
        "least 1,000 times less often in {} of them (in {} where submeshes are powers of two of "
        "nodes only, the default of Alpa's code; the paper takes every number).\n\n"
        "A call is a whole step, a floor of a family of layouts, or one run of layers on one "
        "submesh under one logical shape, which Alpa compiles and profiles each. {} integer "
        "programs were solved with CBC, {} of which would split operator groups of a stage in "
        "different ways.\n\n",
        compared_, same_, close_, compared_ - same_ - close_, confirmed_, by_rank_, thousand_,
        thousand_of_powers_, programs_, mixed_);
    text +=
        "| model | cluster | batch × tokens | search | s | calls | Alpa | s | calls | Alpa / "
        "search | calls | of powers of two |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n" +
        table_;
    return apart_.empty() ? text : text + "\nFurther apart, or without an answer:\n\n" + apart_;
  }

 private:
  void compare(const Scenario& scenario, const search::Problem& problem, const search::Plan& ours,
               const search::Plan& alpa) {
    const double slower = alpa.time.step / ours.time.step;
    if (alpa.layout == ours.layout) {
      ++same_;
    } else if (std::abs(slower - 1.0) <= kCloseShare) {
      ++close_;
    } else {
      add_apart(scenario, fmt::format("Alpa's layout takes {:+.2f} % (by term, ms: {}); {}",
                                      (slower - 1.0) * 100.0, terms_apart(ours.time, alpa.time),
                                      judged(problem, ours, alpa)));
    }
  }

  // What the simulator says of both layouts.
  std::string judged(const search::Problem& problem, const search::Plan& ours,
                     const search::Plan& alpa) {
    const auto mine = simulated_step(problem, ours.layout);
    const auto theirs = simulated_step(problem, alpa.layout);
    if (!mine || !theirs) {
      return fmt::format("not simulated: {}", to_text(mine ? theirs.error() : mine.error()));
    }
    const bool modelled = alpa.time.step > ours.time.step;
    const double slower = theirs->step / mine->step;
    const double by_rank = theirs->each_rank / mine->each_rank;
    confirmed_ += (slower > 1.0) == modelled ? 1 : 0;
    by_rank_ += (by_rank > 1.0) == modelled ? 1 : 0;
    return fmt::format(
        "simulated, the pipeline takes {:.3f} s under Alpa's and {:.3f} s under ours, the step "
        "{:+.2f} %, with every rank's own messages {:+.2f} %",
        theirs->span / 1_s, mine->span / 1_s, (slower - 1.0) * 100.0, (by_rank - 1.0) * 100.0);
  }

  std::int64_t compared_ = 0;
  std::int64_t same_ = 0;
  std::int64_t close_ = 0;      // within 0.5 %, another layout
  std::int64_t confirmed_ = 0;  // further apart, and the simulator says the same
  std::int64_t by_rank_ = 0;    // with every rank's own messages too
  std::int64_t thousand_ = 0;   // at least 1,000 times the calls
  std::int64_t thousand_of_powers_ = 0;
  std::int64_t mixed_ = 0;
  std::int64_t programs_ = 0;
  std::string table_;
  std::string apart_;
};

}  // namespace

std::string alpa_section(const app::Context& context) {
  AlpaTally tally;
  for (const Scenario& scenario : alpa_scenarios()) {
    std::cerr << "alpa: " << scenario.model << " on " << scenario.cluster << "\n";
    if (const auto made = tests::problem_of(scenario, context)) {
      const search::Problem shared = search::shared_space(*made);
      tally.add(scenario, shared, answers_of(shared));
    } else {
      tally.add_apart(scenario, to_text(made.error()));
    }
  }
  return tally.text();
}

}  // namespace sextant::bench
