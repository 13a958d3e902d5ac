#include "explain/estimate_view.h"

#include <array>
#include <cmath>
#include <utility>

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

// "15.6 T", "886", "47 k": three digits and a letter.
std::string short_count(double value) {
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

// A bar of the share, to a quarter of a letter.
std::string bar(double share) {
  constexpr double kLetters = 24.0;
  const auto quarters = static_cast<int>(std::lround(share * kLetters * 4.0));
  std::string text;
  for (int i = 0; i < quarters / 4; ++i) {
    text += "█";
  }
  constexpr std::array<std::string_view, 4> kRest{"", "▎", "▌", "▊"};
  return text + std::string(kRest[static_cast<std::size_t>(quarters % 4)]);
}

Table step_terms_table(const step::Estimate& result, const Style& style) {
  const bool people = style.format != Format::kCsv;
  const bool bars = style.format == Format::kTable;
  Table table{{{people ? "where the step goes" : "term"},
               {people ? "time" : "time_s", true},
               {"share", true}},
              {}};
  if (bars) {
    table.columns.push_back({""});
  }
  const auto add = [&](std::string_view name, Seconds time, bool with_bar) {
    const double share = time / result.step.step;
    std::vector<std::string> row{std::string(name)};
    row.push_back(people ? to_text(time) : fmt::format("{:.9g}", time.base()));
    row.push_back(people ? percent(share) : fmt::format("{:.9g}", share));
    if (bars) {
      row.push_back(with_bar ? bar(share) : "");
    }
    table.rows.push_back(std::move(row));
  };
  for (const step::StepTerm& term : step::step_terms(result.step)) {
    if (!people || !term.communication || term.time > Seconds()) {
      add(people ? term.name : term.key, term.time, true);
    }
  }
  if (people) {
    add("step", result.step.step, false);
  }
  return table;
}

std::string step_line(const step::Estimate& result, const Style& style) {
  std::string text = bold(to_text(result.step.step), style);
  if (const auto& interval = result.interval) {
    text +=
        fmt::format(", 80 % interval {} … {} (class {}, {} measured steps)", to_text(result.low()),
                    to_text(result.high()), interval->name, with_thousands(interval->rows));
  }
  return text;
}

std::string use_text(const step::StepUse& use) {
  if (use.peak <= FlopsPerSecond()) {
    return fmt::format("{} a device; no peak in {} to measure it by", to_text(use.model),
                       format_word(use.format));
  }
  return fmt::format("MFU {}, HFU {} of {} in {}: {} a device", percent(use.mfu()),
                     percent(use.hfu()), to_text(use.peak), format_word(use.format),
                     to_text(use.model));
}

std::string step_path_text(const step::Estimate& result) {
  const Seconds one = result.slowest_microbatch();
  return fmt::format(
      "{}{}: {} microbatch{} of {}",
      result.step.stages.size() > 1
          ? fmt::format("pipeline rank {} is the slowest, ", result.step.slowest_rank)
          : std::string(),
      slowest_stages(result), result.microbatches, result.microbatches == 1 ? "" : "es",
      to_text(one));
}

std::string training_text(const step::TrainingRun& run, const step::Estimate& result) {
  const double low = result.low() / result.step.step;
  const double high = result.high() / result.step.step;
  const auto range = [&](double value, const auto& text) {
    return result.interval
               ? fmt::format("{} ({} … {})", text(value), text(value * low), text(value * high))
               : text(value);
  };
  const auto days = [](double value) {
    return value < 1000.0 ? fmt::format("{:.3g}", value) : with_thousands(std::lround(value));
  };
  std::string text =
      fmt::format("{} tokens: {} steps, {} days, {} device-hours", short_count(run.tokens),
                  with_thousands(run.steps), range(run.time / 1_days, days),
                  range(run.device_hours(), short_count));
  if (run.price) {
    text += fmt::format(", cost {} at {:.6g} each",
                        range(run.device_hours() * *run.price, short_count), *run.price);
  }
  return text;
}

std::string estimate_memory_line(const step::StepMemory& memory, const Style& style) {
  const std::string text = memory_text(memory);
  const std::size_t colon = text.find(':');
  const std::string word = text.substr(0, colon);
  return (memory.rejection ? bad(word, style)
          : memory.tight() ? bold(word, style)
                           : good(word, style)) +
         text.substr(colon);
}

// REQUIRES: it does not fit.
std::string changes_text(const step::StepMemory& memory) {
  if (memory.changes.empty()) {
    return "no single change of the usual keys makes it fit";
  }
  std::vector<std::string> words;
  for (const cost::FittingChange& change : memory.changes) {
    words.push_back(change.change);
  }
  return fmt::format("single changes that make it fit: {}", join(words, ", "));
}

std::string estimate_summary(const EstimateAnswer& answer, const Style& style) {
  const step::Estimate& result = answer.result;
  std::vector<std::pair<std::string_view, std::string>> lines{
      {"step", step_line(result, style)},
      {"speed",
       fmt::format("{} tokens/s, {} tokens/s a device; {} tokens a step",
                   short_count(result.tokens_per_second().base()),
                   short_count(result.tokens_per_device().base()), short_count(result.tokens))},
      {"use", use_text(result.use)},
      {"overhead", fmt::format("communication {}; {} hidden behind compute", overhead_text(result),
                               to_text(result.step.hidden.total()))},
      {"energy", energy_text(result)},
      {"path", step_path_text(result)},
      {"memory", estimate_memory_line(result.memory, style)}};
  if (!result.memory.fits()) {
    lines.emplace_back("", changes_text(result.memory));
  } else if (const std::string safer = safer_text(result.memory); !safer.empty()) {
    lines.emplace_back("", safer);
  }
  if (answer.training) {
    lines.emplace_back("training", training_text(*answer.training, result));
  }
  const bool list = style.format == Format::kMarkdown;
  std::string text;
  for (const auto& [name, line] : lines) {
    text += list ? fmt::format("- {}{}{}\n", name, name.empty() ? "" : ": ", line)
                 : fmt::format("{}{}\n", bold(fmt::format("{:<11}", name), style), line);
  }
  if (!result.memory.fits()) {
    text += bad("the times above are those of a device with enough memory", style) + "\n";
  }
  return text;
}

}  // namespace

std::string_view left_out_of_estimates() {
  return "contention between axes on one NIC, skewed routing of experts, data loading, checkpoints";
}

std::string to_text(const EstimateAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return estimate_json(answer);
  }
  const Table terms = step_terms_table(answer.result, style);
  if (style.format == Format::kCsv) {
    return to_text(terms, style);
  }
  std::string text = estimate_summary(answer, style);
  text += "\n" + to_text(terms, style);
  if (answer.verbose) {
    text += "\n" + to_text(answer.compute, style);
  }
  for (const describe::Assumption& assumed : answer.assumed) {
    text += dim("assumed: " + describe::to_text(assumed), style) + "\n";
  }
  text += dim(fmt::format("left out: {}", left_out_of_estimates()), style) + "\n";
  return fitted(text, style);
}

}  // namespace sextant::explain
