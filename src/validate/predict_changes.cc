#include "validate/predict_changes.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/rules.h"
#include "step/estimate.h"

namespace sextant::validate {

using measured::Answer;
using measured::ChangeSubject;
using measured::Refusal;

std::variant<Seconds, Refusal> ChangePredictor::step_of(const describe::Job& job) {
  if (const auto broken = describe::check_rules(job); !broken.empty()) {
    return Refusal{fmt::format("not legal: {}", broken.front().rule)};
  }
  auto machine = machines_.step(job);
  if (!machine) {
    return Refusal{machine.error().what};
  }
  return step::estimate_step(job, machine->model).step;
}

std::variant<step::Difference, Refusal> ChangePredictor::difference(const measured::Row& row) {
  const auto& subject = std::get<ChangeSubject>(row.subject);
  if (!subject.before || !subject.after) {
    return Refusal{"no job"};
  }
  if (!spreads_) {
    auto read = describe::difference_spreads(data_);
    if (!read) {
      return Refusal{read.error().what};
    }
    spreads_ = std::move(*read);
  }
  const auto before = step_of(*subject.before);
  if (const auto* refusal = std::get_if<Refusal>(&before)) {
    return *refusal;
  }
  const auto after = step_of(*subject.after);
  if (const auto* refusal = std::get_if<Refusal>(&after)) {
    return *refusal;
  }
  step::Difference found =
      step::difference({*subject.after, std::get<Seconds>(after)},
                       {*subject.before, std::get<Seconds>(before)}, *spreads_, subject.origin);
  // What a device does: sources of changes in scale print no other.
  const double devices = static_cast<double>(subject.before->cluster.devices) /
                         static_cast<double>(subject.after->cluster.devices);
  found.speed *= devices;
  found.low *= devices;
  found.high *= devices;
  return found;
}

Answer ChangePredictor::operator()(const measured::Row& row) {
  auto asked = difference(row);
  if (const auto* refusal = std::get_if<Refusal>(&asked)) {
    return *refusal;
  }
  const auto& found = std::get<step::Difference>(asked);
  measured::Prediction prediction{found.speed, std::pair{found.low, found.high}, {}};
  prediction.assumed.push_back({"interval", found.spread_class, "class of the difference", {}});
  if (!found.outside.empty()) {
    prediction.assumed.push_back({"not measured", join(found.outside, ", "), "", {}});
  }
  return prediction;
}

}  // namespace sextant::validate
