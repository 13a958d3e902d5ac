#include "app/calibrate_runs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "app/comm_file.h"
#include "app/run_samples.h"
#include "app/spread_fit.h"
#include "app/step_fit.h"
#include "base/sha256.h"
#include "base/text.h"
#include "describe/step_facts.h"
#include "explain/run_calibration_view.h"

namespace sextant::app {
namespace {

constexpr std::string_view kStepFile = "step.toml";
constexpr std::string_view kStepSpreadFile = "step_spread.toml";

struct CalibratedRuns {
  explain::RunCalibrationAnswer answer;
  std::string step;  // text of the files
  std::string spread;
};

// "runs.csv" or, where there are many, "17 tables of runs".
std::string origin_of(const CalibrateFiles& files) {
  constexpr std::size_t kLong = 60;
  return files.names.size() <= kLong ? quotable(files.names)
                                     : fmt::format("{} tables of runs", files.inputs.size());
}

void add_sources(const std::vector<RunSample>& samples, const std::vector<Seconds>& before,
                 const std::vector<Seconds>& after, explain::RunCalibrationAnswer& answer) {
  std::map<std::string, explain::RunSourceChange> sources;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    explain::RunSourceChange& one = sources[samples[i].source];
    one.source = samples[i].source;
    one.rows += 1;
    one.before += std::abs(before[i] / samples[i].measured - 1.0);
    one.after += std::abs(after[i] / samples[i].measured - 1.0);
  }
  for (auto& [name, one] : sources) {
    one.before /= static_cast<double>(one.rows);
    one.after /= static_cast<double>(one.rows);
    answer.sources.push_back(one);
  }
}

Result<CalibratedRuns> calibrated_runs(const CalibrateFiles& files,
                                       const describe::DataStore& data) {
  const std::vector<RunSample> samples = run_samples(files.rows, data);
  SEXTANT_TRY(describe::StepFacts facts, describe::step_facts(data));
  SEXTANT_TRY(const std::string text, data.read(kStepFile));
  const std::string origin = origin_of(files);
  const StepPlace start = place_of(facts);
  const std::vector<Seconds> before = predicted_steps(samples);
  const StepFit fit = fit_step(samples, start);
  CalibratedRuns made;
  std::vector<NewValue> values;
  for (std::size_t i = 0; i < kStepConstants; ++i) {
    const bool fitted = fit.rows[i] >= kFewestRows;
    made.answer.keys.push_back({std::string(step_constants()[i].key), constant_text(i, start[i]),
                                constant_text(i, fit.place[i]), fit.rows[i], fitted});
    if (fitted) {
      values.push_back(
          {std::string(step_constants()[i].key), constant_text(i, fit.place[i]),
           fmt::format("sextant calibrate: {} rows that depend on it, of {} in {}; least mean over "
                       "{} sources of mean |error|: {:.1f} %",
                       fit.rows[i], fit.samples, origin, fit.sources, 100.0 * fit.after)});
      // What is not fitted keeps its exact value.
      put_constant(i, fit.place[i], facts);
    }
  }
  made.step = with_values(text, values);
  const std::vector<Seconds> after = predicted_steps(samples, facts);
  SEXTANT_TRY(const describe::StepSpreads spreads, fit_spreads(samples, after, origin));
  made.spread = describe::step_spread_text(spreads);
  SEXTANT_TRY(const std::vector<SpreadCoverage> coverage, spread_coverage(samples, after));
  explain::RunCalibrationAnswer& answer = made.answer;
  answer.provenance = {std::string(explain::tool_version()), files.inputs};
  answer.provenance.inputs.emplace_back(data.where(kStepFile), sha256_hex(text));
  answer.before = macro_error(samples, before);
  answer.after = macro_error(samples, after);
  answer.rows = static_cast<std::int64_t>(samples.size());
  add_sources(samples, before, after, answer);
  for (const auto& [name, one] : spreads.classes()) {
    answer.classes.push_back({name, one.low, one.high, one.rows});
  }
  for (const SpreadCoverage& one : coverage) {
    answer.coverage.push_back({one.source, one.rows, one.seen, one.unseen});
  }
  return made;
}

Result<std::vector<std::string>> write_step_files(const CalibratedRuns& made,
                                                  const std::string& folder) {
  const std::filesystem::path path(folder);
  SEXTANT_CHECK_OK(write_with_folder((path / kStepFile).string(), made.step));
  SEXTANT_CHECK_OK(write_with_folder((path / kStepSpreadFile).string(), made.spread));
  return std::vector<std::string>{
      fmt::format("constants of the step model written to {}, intervals to {}",
                  (path / kStepFile).string(), (path / kStepSpreadFile).string()),
      fmt::format("use them: add --data {} to any command, or data = \"{}\" to the configuration "
                  "file",
                  folder, folder)};
}

}  // namespace

std::string with_values(const std::string& file, const std::vector<NewValue>& values) {
  std::string text;
  const NewValue* section = nullptr;
  for (const std::string_view line : split(file, '\n')) {
    if (line.starts_with('[')) {
      const auto found = std::ranges::find_if(
          values, [&](const NewValue& one) { return line == fmt::format("[{}]", one.key); });
      section = found == values.end() ? nullptr : &*found;
    }
    if (section != nullptr && line.starts_with("value ")) {
      text += fmt::format("value = \"{}\"", section->value);
    } else if (section != nullptr && line.starts_with("kind ")) {
      text += "kind = \"fitted\"";
    } else if (section != nullptr && line.starts_with("source ")) {
      text += fmt::format("source = \"{}\"", section->source);
    } else {
      text += line;
    }
    text += '\n';
  }
  text.resize(text.size() - (file.ends_with('\n') ? 1 : 0));
  return text;
}

Result<Output> calibrate_runs(const CalibrateFiles& files, const std::string& write_folder,
                              const Context& context) {
  if (write_folder.ends_with(".toml")) {
    return invalid("constants and intervals are written to a folder, this is a file",
                   "--write " + write_folder,
                   "--write FOLDER, which gets step.toml and step_spread.toml");
  }
  SEXTANT_TRY(const CalibratedRuns made, calibrated_runs(files, context.data));
  Output output;
  if (!write_folder.empty()) {
    SEXTANT_TRY(output.notes, write_step_files(made, write_folder));
  }
  output.text = explain::to_text(made.answer, context.style);
  return output;
}

}  // namespace sextant::app
