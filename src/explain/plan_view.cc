#include "explain/plan_view.h"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "explain/fitted.h"
#include "explain/percent.h"
#include "explain/plan_parts.h"
#include "explain/step_result.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

using sextant::to_text;

std::string plan_section(const std::string& text) {
  return text.empty() ? text : "\n" + text;
}

// "needs 61 GiB of the 75.7 GiB that 5 % headroom leaves of 79.65 GiB"
std::string plan_memory_line(const PlanAnswer& answer, const search::PlanRow& best) {
  const step::StepMemory& memory = best.result.memory;
  std::string text = fmt::format(
      "pipeline rank {} needs {} of {} ({} less {:.3g} % headroom); fits {}",
      memory.fullest.pipeline_rank, to_text(memory.fullest.device), to_text(answer.limit),
      to_text(memory.available), answer.headroom * 100.0, odds_text(memory.odds));
  const std::string safer = safer_text(memory);
  return safer.empty() ? text : text + ", " + safer;
}

std::string training_line(const step::TrainingRun& run, const step::Estimate& result,
                          const std::optional<double>& days) {
  const double low = result.low() / result.step.step;
  const double high = result.high() / result.step.step;
  const double taken = run.time / 1_days;
  std::string text = fmt::format("{} tokens: {:.3g} ({:.3g} … {:.3g}) days, {} device-hours",
                                 short_number(run.tokens), taken, taken * low, taken * high,
                                 short_number(run.device_hours()));
  if (run.price) {
    const double cost = run.device_hours() * *run.price;
    text += fmt::format(", cost {} ({} … {}) at {:.6g} each", short_number(cost),
                        short_number(cost * low), short_number(cost * high), *run.price);
  }
  if (days) {
    text += taken > *days ? fmt::format("; the deadline of {:.4g} days is missed", *days)
            : taken * high > *days
                ? fmt::format("; meets {:.4g} days, the interval does not", *days)
                : fmt::format("; meets {:.4g} days", *days);
  }
  return text;
}

}  // namespace

std::string short_number(double value) {
  constexpr std::array<std::pair<double, const char*>, 4> kScales{
      {{1e12, " T"}, {1e9, " B"}, {1e6, " M"}, {1e4, " k"}}};
  for (const auto& [scale, letter] : kScales) {
    if (value >= scale) {
      const double unit = scale == 1e4 ? 1e3 : scale;
      return fmt::format("{:.4g}{}", value / unit, letter);
    }
  }
  return fmt::format("{:.4g}", value);
}

std::string signed_text(Seconds time) {
  return time < Seconds() ? "-" + to_text(-time) : "+" + to_text(time);
}

std::string winner_text(const PlanAnswer& answer, const Style& style) {
  const search::PlanRow& best = answer.chosen();
  const step::Estimate& result = best.result;
  std::vector<std::pair<std::string_view, std::string>> lines{
      {"plan", bold(best.words.empty() ? "one device, nothing set" : best.words, style)},
      {"in words", layout_phrase(best)},
      {"mesh", fmt::format("{} of {} devices, {} microbatch{} a step", mesh_text(best),
                           answer.job.cluster.devices, result.microbatches,
                           result.microbatches == 1 ? "" : "es")},
      {"step", with_interval(result)},
      {"speed", fmt::format("{} tokens/s, {} a device; {} tokens a step",
                            short_number(result.tokens_per_second().base()),
                            rate_text(result.tokens_per_device()), short_number(result.tokens))},
      {"use", fmt::format("MFU {}, HFU {}; communication {}", percent(result.use.mfu()),
                          percent(result.use.hfu()), overhead_text(result))},
      {"energy", energy_text(result)},
      {"memory", plan_memory_line(answer, best)}};
  if (!best.mesh.empty()) {
    lines.insert(lines.begin() + 3, {"JAX mesh", best.mesh});
  }
  if (answer.training) {
    lines.emplace_back("training", training_line(*answer.training, result, answer.days));
  }
  for (auto& line : recommending_lines(answer)) {
    lines.push_back(std::move(line));
  }
  std::string text;
  for (const auto& [name, line] : lines) {
    text += style.format == Format::kMarkdown
                ? fmt::format("- {}: {}\n", name, line)
                : fmt::format("{}{}\n", bold(fmt::format("{:<11}", name), style), line);
  }
  return text;
}

std::string search_text(const PlanAnswer& answer) {
  const search::Settled& all = answer.settled;
  const auto number = [](double value) {
    return value < 1e6 ? with_thousands(std::llround(value)) : fmt::format("{:.4g}", value);
  };
  std::string text = fmt::format(
      "searched {} legal layouts in {}: {} timed; left out {} that cannot be faster, {} that hide "
      "less than one that is too slow, {} that do not fit; {} calls of the cost model",
      number(all.possible), to_text(answer.search_time), number(all.timed), number(all.too_slow),
      number(all.hides_less), number(all.too_large), with_thousands(answer.calls.total()));
  return text + (answer.complete ? "\n" : "; stopped before the end: the best so far\n");
}

std::string to_text(const PlanAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return plan_json(answer);
  }
  if (style.format == Format::kCsv) {
    return plans_text(answer, style);
  }
  std::string text;
  if (answer.plans.empty()) {
    text = none_text(answer, style);
  } else {
    text = answer.complete ? "" : bad("stopped before the end: the best so far", style) + "\n";
    text += winner_text(answer, style);
    if (answer.path) {
      text += plan_section(path_text(answer, style));
    }
    text += plan_section(bounds_text(answer.chosen(), style));
    text += plan_section(shifts_text(answer, style));
    text += plan_section(plans_text(answer, style));
    text += plan_section(front_text(answer, style));
  }
  text += plan_section(counts_text(answer, style));
  text += plan_section(freed_text(answer, style));
  text += plan_section(why_not_text(answer, style));
  text += plan_section(baselines_text(answer, style));
  text += "\n" + search_text(answer) + proof_text(answer);
  text = fitted(text, style);
  if (answer.files) {
    text += plan_section(to_text(*answer.files, style));
  }
  std::string under;
  for (const describe::Assumption& assumed : answer.assumed) {
    under += dim("assumed: " + describe::to_text(assumed), style) + "\n";
  }
  under += dim(fmt::format("left out: {}", left_out_of_estimates()), style) + "\n";
  return text + fitted(under, style);
}

}  // namespace sextant::explain
