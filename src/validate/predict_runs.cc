#include "validate/predict_runs.h"

#include <utility>

#include <fmt/format.h>

#include "describe/layout/rules.h"
#include "step/estimate.h"

namespace sextant::validate {
namespace {

using measured::Answer;
using measured::Prediction;
using measured::Refusal;
using measured::RunSubject;

}  // namespace

std::variant<RunQuestion, Refusal> RunPredictor::question(const measured::Row& row) {
  const auto& subject = std::get<RunSubject>(row.subject);
  if (!subject.job) {
    return Refusal{"no job"};
  }
  if (!subject.beyond_layout.empty()) {
    return Refusal{subject.beyond_layout.front()};
  }
  if (const auto broken = describe::check_rules(*subject.job); !broken.empty()) {
    return Refusal{fmt::format("not legal: {}", broken.front().rule)};
  }
  auto machine = machines_.step(*subject.job);
  if (!machine) {
    return Refusal{machine.error().what};
  }
  return RunQuestion{subject.job, std::move(*machine)};
}

Answer RunPredictor::operator()(const measured::Row& row) {
  auto asked = question(row);
  if (const auto* refusal = std::get_if<Refusal>(&asked)) {
    return *refusal;
  }
  auto& [job, machine] = std::get<RunQuestion>(asked);
  if (!machine.spreads) {
    return Refusal{"no intervals"};
  }
  const double step = step::estimate_step(*job, machine.model).step / 1_s;
  const describe::StepSpread& spread = machine.spreads->of(*job);
  const double tokens =
      static_cast<double>(job->global_batch) * static_cast<double>(job->sequences.length);
  Prediction prediction;
  prediction.assumed = std::move(machine.assumed);
  if (row.quantity == "step_time_s") {
    prediction.value = step;
    prediction.interval = {step * spread.low, step * spread.high};
  } else if (row.quantity == "tokens_per_s_per_device") {
    const double rate = tokens / step / static_cast<double>(job->cluster.devices);
    prediction.value = rate;
    prediction.interval = {rate / spread.high, rate / spread.low};
  } else {
    return Refusal{"not modelled yet: " + row.quantity};
  }
  return prediction;
}

}  // namespace sextant::validate
