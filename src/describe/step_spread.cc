#include "describe/step_spread.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "describe/layout/precision.h"
#include "describe/toml_table.h"

namespace sextant::describe {
namespace {

constexpr std::string_view kStepSpreadFile = "step_spread.toml";
constexpr std::string_view kAll = "all";
constexpr std::int64_t kMostRows = 1'000'000;

constexpr std::string_view kHead =
    "# How far measured steps lie from predicted ones, by class of job: eight of ten lie between "
    "low and high times the\n# prediction. Classes: src/describe/step_spread.h. Written by "
    "`sextant calibrate RUNS --write data`.\n";

std::string_view word_of_framework(Framework framework) {
  return word_of<Framework>(kFrameworkWords, framework);
}

// From the widest to the narrowest, without "all".
std::vector<std::string> narrowing(const Job& job) {
  if (job.workload == Workload::kLora || job.workload == Workload::kFineTune) {
    return {"fine-tuning"};
  }
  switch (job.framework) {
    case Framework::kMegatronCore:
    case Framework::kNanotron:
      if (has_experts(job.model)) {
        return {"megatron", "megatron-experts"};
      }
      return {
          "megatron", "megatron-dense",
          is_quantised(job.layout.precision) ? "megatron-dense-8-bit" : "megatron-dense-16-bit"};
    case Framework::kMegatronDeepspeed:
      return {"megatron-deepspeed", job.cluster.domains() > 1 ? "megatron-deepspeed-domains"
                                                              : "megatron-deepspeed-one-domain"};
    case Framework::kMaxtext:
      return {"jax"};
    case Framework::kTorchtitan:
    case Framework::kFsdp1:
    case Framework::kDeepspeed:
    case Framework::kAccelerate:
      return {"sharded", fmt::format("sharded-{}", word_of_framework(job.framework))};
    case Framework::kOther:
      break;
  }
  return {"other"};
}

Result<StepSpread> read_class(const TomlTable& table, const std::string& name) {
  StepSpread spread;
  spread.name = name;
  SEXTANT_TRY(const Sourced<double> low, table.sourced("low", parse_ratio));
  SEXTANT_TRY(const Sourced<double> high, table.sourced("high", parse_ratio));
  SEXTANT_TRY(spread.rows, table.integer("rows", 0, kMostRows));
  constexpr std::array<std::string_view, 3> kKeys{"low", "high", "rows"};
  SEXTANT_CHECK_OK(table.only(kKeys));
  if (low.value <= 0.0 || low.value > 1.0) {
    return invalid(fmt::format("low is {}", low.value), table.where("low"), "above 0, at most 1");
  }
  if (high.value < 1.0) {
    return invalid(fmt::format("high is {}", high.value), table.where("high"), "1 ratio and more");
  }
  spread.low = low.value;
  spread.high = high.value;
  spread.source = low.source;
  return spread;
}

std::string end_text(std::string_view key, double value, std::string_view source) {
  return fmt::format("{} = {{ value = \"{} ratio\", kind = \"fitted\", source = \"{}\" }}\n", key,
                     value, source);
}

}  // namespace

std::vector<std::string> spread_classes(const Job& job) {
  std::vector<std::string> classes = narrowing(job);
  std::ranges::reverse(classes);
  classes.emplace_back(kAll);
  return classes;
}

Result<StepSpreads> StepSpreads::of_classes(std::vector<StepSpread> classes) {
  StepSpreads spreads;
  for (StepSpread& one : classes) {
    std::string name = one.name;
    spreads.classes_.emplace(std::move(name), std::move(one));
  }
  if (!spreads.classes_.contains(kAll)) {
    return invalid("no class that every job belongs to", std::string(kStepSpreadFile),
                   "a class [all]");
  }
  return spreads;
}

const StepSpread& StepSpreads::of(const Job& job) const {
  for (const std::string& name : spread_classes(job)) {
    if (const auto found = classes_.find(name); found != classes_.end()) {
      return found->second;
    }
  }
  return classes_.find(kAll)->second;
}

Result<StepSpreads> parse_step_spreads(std::string_view text, std::string_view where) {
  SEXTANT_TRY(const TomlTable file, TomlTable::parse(text, where));
  std::vector<StepSpread> classes;
  for (const std::string& name : file.keys()) {
    SEXTANT_TRY(const TomlTable table, file.table(name));
    SEXTANT_TRY(StepSpread spread, read_class(table, name));
    classes.push_back(std::move(spread));
  }
  return StepSpreads::of_classes(std::move(classes));
}

Result<StepSpreads> step_spreads(const DataStore& data) {
  SEXTANT_TRY(const std::string text, data.read(kStepSpreadFile));
  return parse_step_spreads(text, data.where(kStepSpreadFile));
}

std::string step_spread_text(const StepSpreads& spreads) {
  std::string text(kHead);
  for (const auto& [name, spread] : spreads.classes()) {
    text += fmt::format("\n[{}]\nrows = {}\n", name, spread.rows);
    text += end_text("low", spread.low, spread.source);
    text += end_text("high", spread.high, spread.source);
  }
  return text;
}

}  // namespace sextant::describe
