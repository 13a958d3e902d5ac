#include "explain/check_view.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "emit/beside_the_job.h"
#include "emit/measured_row.h"
#include "emit/not_known.h"
#include "explain/estimate_json.h"
#include "explain/json.h"
#include "explain/percent.h"
#include "explain/text_table.h"
#include "explain/violation_view.h"

namespace sextant::explain {
namespace {

using sextant::to_text;

std::string_view severity_word(const describe::Violation& violation) {
  return describe::word_of<describe::Severity>(describe::kSeverityWords, violation.severity);
}

// Values in the order of the files; of a field said twice the last.
std::vector<const emit::Fact*> last_facts(const emit::Reading& reading) {
  std::vector<const emit::Fact*> list;
  for (const emit::Fact& fact : reading.facts) {
    const auto known = std::find_if(list.begin(), list.end(), [&](const emit::Fact* other) {
      return other->field == fact.field;
    });
    if (known == list.end()) {
      list.push_back(&fact);
    } else {
      *known = &fact;
    }
  }
  return list;
}

Table job_table(const CheckAnswer& answer) {
  constexpr std::size_t kMostWords = 60;
  Table table{{{"what"}, {"value"}, {"said by"}, {"where"}}, {}};
  for (const emit::Fact* fact : last_facts(answer.reading)) {
    table.rows.push_back({fact->field, printable(fact->value), printable(fact->words, kMostWords),
                          emit::to_text(fact->place)});
  }
  return table;
}

std::string measured_line(const emit::MeasuredRun& run) {
  std::string text =
      fmt::format("  {} ± {} (median of {} steps, {} left out)\n",
                  run.step ? to_text(*run.step) : "step not known",
                  run.spread ? to_text(*run.spread) : "-", run.counted, run.left_out);
  if (run.tokens_per_second_per_device) {
    text += fmt::format("  {:.1f} tokens/s a device\n", *run.tokens_per_second_per_device);
  }
  if (run.tflops_per_device) {
    text +=
        fmt::format("  {:.1f} TFLOP/s a device, as the framework counts\n", *run.tflops_per_device);
  }
  if (run.max_allocated) {
    text += fmt::format("  {} allocated at most{}\n", to_text(*run.max_allocated),
                        run.max_reserved ? ", " + to_text(*run.max_reserved) + " reserved" : "");
  }
  for (const std::string& note : run.notes) {
    text += fmt::format("  {}\n", note);
  }
  return text;
}

std::string predicted_lines(const step::Estimate& result, const CheckAnswer& answer,
                            const Style& style) {
  std::string text =
      fmt::format("{}\n  step {}\n  {}\n  communication: {}\n", bold("predicted", style),
                  with_interval(result), memory_text(result.memory), overhead_text(result));
  if (answer.measured && answer.measured->step) {
    const double ratio = *answer.measured->step / result.step.step;
    const bool inside =
        *answer.measured->step >= result.low() && *answer.measured->step <= result.high();
    text += fmt::format("  measured is {} {} the prediction, {} its interval\n",
                        percent(std::abs(ratio - 1.0)), ratio < 1.0 ? "below" : "above",
                        inside ? "inside" : "outside");
  }
  return text;
}

Json measured_run_json(const emit::MeasuredRun& run) {
  const auto seconds = [](const std::optional<Seconds>& time) {
    return time ? Json(time->base()) : Json(nullptr);
  };
  const auto bytes = [](const std::optional<Bytes>& size) {
    return size ? Json(size->base()) : Json(nullptr);
  };
  return {{"step_time_s", seconds(run.step)},
          {"spread_s", seconds(run.spread)},
          {"steps_counted", run.counted},
          {"steps_left_out", run.left_out},
          {"tokens_per_s_per_device", or_null(run.tokens_per_second_per_device)},
          {"TFLOPps_per_device", or_null(run.tflops_per_device)},
          {"allocated_bytes", bytes(run.max_allocated)},
          {"reserved_bytes", bytes(run.max_reserved)},
          {"notes", run.notes}};
}

std::string framework_word(const CheckAnswer& answer) {
  if (!answer.reading.program.empty() && answer.reading.framework_known) {
    return answer.reading.program;
  }
  if (answer.reading.framework) {
    return std::string(describe::word_of<describe::Framework>(describe::kFrameworkWords,
                                                              *answer.reading.framework));
  }
  return answer.reading.framework_known ? std::string(describe::word_of<emit::Dialect>(
                                              emit::kDialectWords, answer.reading.dialect))
                                        : "framework not known";
}

Json place_json(const emit::Place& place) {
  return {{"file", place.file}, {"line", place.line}};
}

std::string check_json_text(const CheckAnswer& answer) {
  Json json = document("check", answer.provenance);
  json["framework"] = answer.reading.framework_known ? Json(framework_word(answer)) : Json(nullptr);
  json["legal"] = answer.job ? Json(!is_illegal(answer)) : Json(nullptr);
  json["layout"] = emit::layout_text(answer.reading);
  json["not_known"] = answer.reading.not_known;
  Json& facts = json["facts"] = Json::array();
  for (const emit::Fact* fact : last_facts(answer.reading)) {
    Json one = place_json(fact->place);
    one["what"] = fact->field;
    one["value"] = fact->value;
    one["words"] = fact->words;
    facts.push_back(std::move(one));
  }
  Json& violations = json["violations"] = Json::array();
  for (const describe::Violation& violation : answer.violations) {
    violations.push_back({{"rule", violation.rule},
                          {"severity", severity_word(violation)},
                          {"message", violation.message},
                          {"nearest", violation.nearest}});
  }
  Json& unresolved = json["unresolved"] = Json::array();
  for (const emit::Unresolved& one : answer.reading.unresolved) {
    Json entry = place_json(one.place);
    entry["what"] = one.what;
    entry["why"] = one.why;
    entry["beside_the_job"] = emit::is_beside_the_job(one);
    unresolved.push_back(std::move(entry));
  }
  Json& unknown = json["unknown"] = Json::array();
  for (const emit::UnknownSetting& setting : answer.reading.unknown) {
    Json entry = place_json(setting.place);
    entry["key"] = setting.key;
    entry["nearest"] = setting.nearest;
    unknown.push_back(std::move(entry));
  }
  json["not_stated"] = answer.open;
  json["measured"] = answer.measured ? measured_run_json(*answer.measured) : Json(nullptr);
  json["predicted"] = answer.predicted ? step_json(*answer.predicted) : Json(nullptr);
  json["assumed"] = to_json(answer.assumed);
  return dumped(json);
}

// A heading and its lines; nothing where there is none.
std::string titled_section(std::string_view title, const std::vector<std::string>& lines,
                           const Style& style) {
  if (lines.empty()) {
    return {};
  }
  std::string text = bold(title, style) + "\n";
  for (const std::string& line : lines) {
    text += fmt::format("  {}\n", line);
  }
  return text;
}

// What concerns the job, each line once; the rest is counted.
std::vector<std::string> unresolved_lines(const CheckAnswer& answer) {
  std::vector<std::string> lines;
  std::size_t beside = 0;
  for (const emit::Unresolved& one : answer.reading.unresolved) {
    if (emit::is_beside_the_job(one)) {
      ++beside;
      continue;
    }
    const std::string place = emit::to_text(one.place);
    std::string line =
        fmt::format("{}{}{}: {}", place, place.empty() ? "" : ": ", printable(one.what), one.why);
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) {
      lines.push_back(std::move(line));
    }
  }
  if (beside > 0) {
    lines.push_back(
        fmt::format("and {} about paths, addresses, logging and variables (‹output› json has "
                    "them)",
                    beside));
  }
  return lines;
}

std::vector<std::string> unknown_lines(const CheckAnswer& answer) {
  constexpr std::size_t kMost = 8;
  const auto& unknown = answer.reading.unknown;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(kMost, unknown.size()); ++i) {
    lines.push_back(
        fmt::format("{}: {}", emit::to_text(unknown[i].place), unknown_text(unknown[i])));
  }
  if (unknown.size() > kMost) {
    lines.push_back(fmt::format("and {} more (‹output› json has them)", unknown.size() - kMost));
  }
  return lines;
}

}  // namespace

bool is_illegal(const CheckAnswer& answer) {
  return std::any_of(answer.violations.begin(), answer.violations.end(),
                     [](const describe::Violation& violation) {
                       return violation.severity == describe::Severity::kIllegal;
                     });
}

std::string to_text(const CheckAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return check_json_text(answer);
  }
  if (style.format == Format::kGithub) {
    return github_text(findings(answer));
  }
  if (style.format == Format::kSarif) {
    return sarif_text(findings(answer));
  }
  std::string text = fmt::format("{} ({})\n{}", bold("job", style), framework_word(answer),
                                 to_text(job_table(answer), style));
  if (answer.job) {
    const describe::Job& job = *answer.job;
    text += fmt::format("{} ({} layers, hidden {}) on {}\n  {}\n", job.model.name,
                        job.model.layer_count(), job.model.hidden, job.cluster.name,
                        describe::to_text(job.layout));
  } else {
    text += fmt::format("  {}\n", emit::layout_text(answer.reading));
  }
  std::vector<std::string> rules;
  for (const describe::Violation& violation : answer.violations) {
    rules.push_back(fmt::format("{} {}", severity_word(violation), violation_text(violation)));
  }
  const bool illegal = is_illegal(answer);
  if (answer.job) {
    text += illegal ? bad("not legal", style) + "\n" : good("legal", style) + "\n";
  }
  text += titled_section("rules", rules, style);
  text += titled_section("not stated", answer.open, style);
  text += titled_section("unresolved", unresolved_lines(answer), style);
  text += titled_section("unknown", unknown_lines(answer), style);
  if (answer.measured) {
    text += bold("measured", style) + "\n" + measured_line(*answer.measured);
  }
  if (answer.predicted) {
    text += predicted_lines(*answer.predicted, answer, style);
  }
  std::vector<std::string> assumed;
  for (const describe::Assumption& one : answer.assumed) {
    assumed.push_back(describe::to_text(one));
  }
  text += titled_section("assumed", assumed, style);
  return text;
}

std::string to_text(const MeasuredRowAnswer& answer, const Style& /*style*/) {
  return emit::row_header() + emit::measured_row(answer.job, answer.measured, answer.id);
}

}  // namespace sextant::explain
