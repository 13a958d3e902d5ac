#include "calibrate/run_calibration.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/text.h"
#include "calibrate/comm_file.h"
#include "calibrate/run_samples.h"
#include "calibrate/spread_fit.h"
#include "calibrate/step_fit.h"
#include "describe/step_facts.h"

namespace sextant::calibrate {
namespace {

constexpr std::string_view kStepFile = "step.toml";
constexpr std::string_view kStepSpreadFile = "step_spread.toml";

// "runs.csv" or, where there are many, "17 tables of runs".
std::string origin_of(const Inputs& files) {
  constexpr std::size_t kLong = 60;
  return files.names.size() <= kLong ? quotable(files.names)
                                     : fmt::format("{} tables of runs", files.inputs.size());
}

void add_sources(const std::vector<RunSample>& samples, const std::vector<Seconds>& before,
                 const std::vector<Seconds>& after, RunCalibration& made) {
  std::map<std::string, RunSourceChange> sources;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    RunSourceChange& one = sources[samples[i].source];
    one.source = samples[i].source;
    one.rows += 1;
    one.before += std::abs(before[i] / samples[i].measured - 1.0);
    one.after += std::abs(after[i] / samples[i].measured - 1.0);
  }
  for (auto& [name, one] : sources) {
    one.before /= static_cast<double>(one.rows);
    one.after /= static_cast<double>(one.rows);
    made.sources.push_back(one);
  }
}

// Tables of single runs have no pairs: then the differences stay as they are.
Result<void> add_differences(const std::vector<RunSample>& samples,
                             const std::vector<Seconds>& predicted, const std::string& origin,
                             RunCalibration& made) {
  const std::vector<DifferencePair> pairs = difference_pairs(samples, predicted);
  const auto file = fit_differences(pairs, origin);
  if (!file) {
    return {};
  }
  SEXTANT_TRY(const describe::DifferenceSpreads spreads, describe::DifferenceSpreads::of(*file));
  for (const describe::DifferenceSpread& one : file->classes) {
    made.differences.push_back({one.name, one.factor, one.pairs});
  }
  made.difference_coverage = difference_coverage(pairs, spreads);
  made.difference = describe::difference_spread_text(*file);
  return {};
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

Result<RunCalibration> run_calibration(const Inputs& files, const describe::DataStore& data) {
  const std::vector<RunSample> samples = run_samples(files.rows, data);
  SEXTANT_TRY(describe::StepFacts facts, describe::step_facts(data));
  SEXTANT_TRY(const std::string text, data.read(kStepFile));
  const std::string origin = origin_of(files);
  const StepPlace start = place_of(facts);
  const std::vector<Seconds> before = predicted_steps(samples);
  const StepFit fit = fit_step(samples, start);
  RunCalibration made;
  std::vector<NewValue> values;
  for (std::size_t i = 0; i < kStepConstants; ++i) {
    const bool fitted = fit.rows[i] >= kFewestRows;
    made.keys.push_back({std::string(step_constants()[i].key), constant_text(i, start[i]),
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
  SEXTANT_TRY(made.coverage, spread_coverage(samples, after));
  SEXTANT_CHECK_OK(add_differences(samples, after, origin, made));
  made.inputs = files.inputs;
  made.inputs.emplace_back(data.where(kStepFile), sha256_hex(text));
  made.before = macro_error(samples, before);
  made.after = macro_error(samples, after);
  made.rows = static_cast<std::int64_t>(samples.size());
  add_sources(samples, before, after, made);
  for (const auto& [name, one] : spreads.classes()) {
    made.classes.push_back({name, one.low, one.high, one.rows});
  }
  return made;
}

}  // namespace sextant::calibrate
