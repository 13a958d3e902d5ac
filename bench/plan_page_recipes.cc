// Published recipes against the search.
#include <algorithm>
#include <iostream>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/statistics.h"
#include "base/text.h"
#include "describe/layout/framework_rules.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/layout_words.h"
#include "plan_page.h"
#include "published_recipes.h"
#include "search/choices.h"
#include "search/find.h"

namespace sextant::bench {
namespace {

using describe::Layout;
using describe::Overlap;

constexpr double kCloseRatio = 1.05;  // published over plan

// Of the layout what the search may choose: the rest is the same in both.
std::string open_text(const Layout& layout) {
  Layout open;
  for (const auto& [key, value] : describe::layout_values(layout)) {
    const bool idle = key == "cp_method" && layout.cp == 1;
    if (search::is_searched(key) && key != "dp" && !idle) {
      describe::set_keys(fmt::format("{}={}", key, value), open).value();
    }
  }
  std::string text = short_text(open);
  // short_text leaves these out whether they are on or off.
  if (layout.zero == describe::Zero::kNone) {
    text += ",zero=0";
  } else if (!layout.overlaps(Overlap::kGradReduce)) {
    text += ", gradients not hidden";
  } else if (!layout.overlaps(Overlap::kParamGather)) {
    text += ", parameters not hidden";
  }
  return text;
}

// One recipe and its plan.
struct Comparison {
  Layout published;
  step::StepTerms time;
  Bytes needs;                       // what the published layout needs
  Bytes available;                   // with the page's headroom
  Bytes whole;                       // of the device
  std::vector<std::string> broken;   // rules of the framework
  std::optional<search::Plan> plan;  // nothing: nothing fits
  double ratio = 1.0;                // published over plan
  std::vector<std::string> outside;  // what keeps a faster published layout out of the space
};

std::vector<std::string> broken_rules(const search::Problem& problem, const Layout& layout) {
  describe::Job job = problem.job;
  job.layout = layout;
  std::vector<std::string> ids;
  for (const describe::Violation& violation : describe::check_framework_rules(job)) {
    if (violation.severity == describe::Severity::kIllegal) {
      ids.emplace_back(violation.rule);
    }
  }
  return ids;
}

// Keys with which, taken from the plan, the layout is in the space.
std::vector<std::string> outside_space(const search::Problem& problem, const Layout& layout,
                                       const Layout& plan) {
  search::Space space(problem);
  std::vector<std::string> texts;
  for (const auto& [key, value] : describe::layout_values(plan)) {
    const std::string own = describe::value_of(layout, key);
    Layout changed = layout;
    if (own != value && describe::set_keys(fmt::format("{}={}", key, value), changed) &&
        space.holds(changed)) {
      texts.push_back(fmt::format("{}={}", key, own));
    }
  }
  return texts.empty() ? std::vector<std::string>{"more than one key"} : texts;
}

Result<Comparison> compared(const Recipe& recipe, const describe::DataStore& data) {
  search::Problem problem;
  problem.job = *recipe.job;
  problem.job.layout.dp = 0;
  problem.machine = recipe.machine;
  if (problem.job.layout.activation_offload) {
    problem.fixed = {"recompute"};  // sending activations to the host has no price yet
  }
  SEXTANT_TRY(problem.memory, describe::memory_facts(data, problem.job.framework));
  Comparison made;
  made.published = problem.job.layout;
  made.broken = broken_rules(problem, made.published);
  search::Leaf leaf(problem);
  made.time = leaf.time(made.published);
  made.needs = leaf.memory(made.published).device;
  made.available = problem.available();
  made.whole = problem.job.cluster.device.usable_memory();
  if (made.needs > made.available) {
    // It ran: a plan may take as much as it is said to need, on the same device.
    problem.headroom = std::max(0.0, 1.0 - made.needs / made.whole);
  }
  search::FindOptions options;
  options.top = 1;
  const search::Found found = search::find_plans(search::Space(problem), options);
  if (!found.plans.empty()) {
    made.plan = found.plans.front();
    made.ratio = made.time.step / made.plan->time.step;
    if (made.ratio < 1.0 && made.needs <= made.whole) {
      made.outside = outside_space(problem, made.published, made.plan->layout);
    }
  }
  return made;
}

// The precision, and the workload where it is no pre-training.
std::string format_of(const describe::Job& job) {
  std::string text(
      describe::word_of<describe::Precision>(describe::kPrecisionWords, job.layout.precision));
  if (job.workload != describe::Workload::kPretrain) {
    text += " ";
    text += describe::word_of<describe::Workload>(describe::kWorkloadWords, job.workload);
  }
  return text;
}

std::string name_of(const Recipe& recipe) {
  const describe::Job& job = *recipe.job;
  return fmt::format("{} on {} × {}, {}", job.model.name, job.cluster.devices,
                     job.cluster.device.id, format_of(job));
}

// The columns that both tables begin with.
constexpr std::string_view kHeads =
    "| model | devices | precision | batch × tokens | published | measured, s | predicted, s |";
constexpr std::string_view kRule = "|---|---|---|---|---|---|---|";
std::string first_cells(const Recipe& recipe, const Comparison& made) {
  const describe::Job& job = *recipe.job;
  const std::string measured =
      recipe.measured ? fmt::format("{:.3f}", *recipe.measured / 1_s) : "no time";
  return fmt::format("| {} | {} × {} | {} | {} × {} | {} | {} ({}) | {:.3f} |", job.model.name,
                     job.cluster.devices, job.cluster.device.id, format_of(job), job.global_batch,
                     job.sequences.length, open_text(made.published), measured, recipe.id,
                     made.time.step / 1_s);
}

class RecipeTally {
 public:
  void add(const Recipe& recipe, const Comparison& made) {
    add_remarks(recipe, made);
    if (!made.plan) {
      add_remark(recipe, "the search finds nothing");
      return;
    }
    ratios_.push_back(made.ratio);
    const std::string plan = open_text(made.plan->layout);
    if (made.ratio <= kCloseRatio) {
      same_ += plan == open_text(made.published) ? 1 : 0;
      close_ += first_cells(recipe, made) +
                fmt::format(" {:.3f} | {:.3f} |\n", made.plan->time.step / 1_s, made.ratio);
      return;
    }
    further_ += first_cells(recipe, made) + fmt::format(" {} | {:.3f} | {:.2f} | {} |\n", plan,
                                                        made.plan->time.step / 1_s, made.ratio,
                                                        terms_apart(made.time, made.plan->time));
  }

  void add_remark(const Recipe& recipe, const std::string& what) {
    remarks_ += fmt::format("- {} ({}): {}.\n", name_of(recipe), recipe.id, what);
  }

  [[nodiscard]] std::string text(const Recipes& recipes) const {
    const auto close =
        std::count_if(ratios_.begin(), ratios_.end(), [](double r) { return r <= kCloseRatio; });
    const auto all = static_cast<std::int64_t>(ratios_.size());
    std::string text = fmt::format(
        "## Against published recipes\n\n"
        "{} published recipes: the published layout takes {:.2f}× the plan's step in the median; "
        "in {} it is within 5 % ({} times it is the plan), in {} further, with the terms that make "
        "the difference. Published layouts that break a rule of their framework: {}; that need "
        "more than 95 % of the device by our model: {}, more than all of it: {} (listed).\n\n",
        all, median(ratios_).value_or(0.0), close, same_, all - close, illegal_, too_large_,
        beyond_device_);
    text += chosen_by(recipes);
    text += "Further than 5 %. By term: what the plan's step has more (+) or less (−) of.\n\n";
    text += fmt::format("{} plan | s | published / plan | by term, ms |\n{}---|---|---|---|\n{}",
                        kHeads, kRule, further_);
    text += fmt::format("\nWithin 5 %:\n\n{} plan, s | published / plan |\n{}---|---|\n{}", kHeads,
                        kRule, close_);
    return remarks_.empty() ? text : text + "\nOf the published layouts:\n\n" + remarks_;
  }

 private:
  // By which rule, and what stays as it is.
  static std::string chosen_by(const Recipes& recipes) {
    std::int64_t refused = 0;
    std::vector<std::string> reasons;
    for (const auto& [reason, runs] : recipes.refused) {
      refused += runs;
      reasons.push_back(fmt::format("{} {}", runs, reason));
    }
    return fmt::format(
        "Every run of the tables with a layout whose model is Llama 3 405B, DeepSeek-V3 or a "
        "Nemotron, and all of Megatron-Bridge's: {} runs of {} jobs; of jobs of one table that "
        "differ in scale alone the one with the most tokens a second and device ({} left out). {} "
        "runs have no prediction{}{}. Model, framework, batch, formats, kernels, optimizer and how "
        "kernels are launched stay as published; the rest the search chooses, whether the "
        "framework's release of that day had it or not (where activations go to the host, which "
        "has "
        "no price yet, recomputation stays as published too). A plan may use 95 % of the device, "
        "or what "
        "the published layout needs if that is more.\n\n",
        recipes.runs, recipes.groups,
        recipes.groups - static_cast<std::int64_t>(recipes.chosen.size()), refused,
        reasons.empty() ? "" : ": ", join(reasons, ", "));
  }

  void add_remarks(const Recipe& recipe, const Comparison& made) {
    if (!made.broken.empty()) {
      ++illegal_;
      add_remark(recipe, fmt::format("breaks {}", join(made.broken, ", ")));
    }
    if (made.needs > made.available) {
      const bool beyond = made.needs > made.whole;
      ++too_large_;
      beyond_device_ += beyond ? 1 : 0;
      add_remark(recipe,
                 fmt::format("needs {:.1f} GiB by our model, 95 % of the device are {:.1f}{}",
                             made.needs / 1_GiB, made.available / 1_GiB,
                             beyond ? "; the plan is held to the device" : ""));
    }
    if (!made.outside.empty()) {
      add_remark(recipe, fmt::format("{:.3f}× the plan, and not the search's to choose ({})",
                                     made.ratio, join(made.outside, " or ")));
    }
  }

  std::vector<double> ratios_;
  std::int64_t same_ = 0;  // the plan is the published layout
  std::int64_t illegal_ = 0;
  std::int64_t too_large_ = 0;
  std::int64_t beyond_device_ = 0;
  std::string further_;
  std::string close_;
  std::string remarks_;
};

}  // namespace

std::string recipes_section(const app::Context& context, const std::filesystem::path& truth) {
  const auto recipes = published_recipes(truth, context.data);
  if (!recipes) {
    return fmt::format("## Against published recipes\n\n{}\n", to_text(recipes.error()));
  }
  RecipeTally tally;
  for (const Recipe& recipe : recipes->chosen) {
    std::cerr << "recipe: " << recipe.id << " " << name_of(recipe) << "\n";
    if (const auto made = compared(recipe, context.data)) {
      tally.add(recipe, *made);
    } else {
      tally.add_remark(recipe, to_text(made.error()));
    }
  }
  return tally.text(*recipes);
}

}  // namespace sextant::bench
