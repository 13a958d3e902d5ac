#include "diagnose/gate.h"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::diagnose {

std::optional<double> total_gain(const Diagnosis& diagnosis) {
  if (diagnosis.ceiling >= diagnosis.step) {
    return std::nullopt;
  }
  return gain_ceiling(diagnosis.ceiling, diagnosis.step);
}

std::vector<std::string> met(const Gate& gate, const Diagnosis& diagnosis) {
  std::vector<std::string> reasons;
  for (const std::string& rule : gate.rules) {
    const auto is_it = [&](const Finding& finding) {
      return finding.rule == rule && !finding.explained_by;
    };
    if (std::ranges::any_of(diagnosis.findings, is_it)) {
      reasons.push_back(rule + " is found");
    }
  }
  if (gate.gain) {
    const std::optional<double> gain = total_gain(diagnosis);
    if (!gain || *gain > *gate.gain) {
      reasons.push_back(
          gain ? fmt::format("up to {:.1f} % could be gained, more than {:g} %", 100.0 * *gain,
                             100.0 * *gate.gain)
               : fmt::format("all of the step is lost, more than {:g} %", 100.0 * *gate.gain));
    }
  }
  return reasons;
}

}  // namespace sextant::diagnose
