// One factor of a job varied, everything else held: the step's time, utilisation and where the time
// goes, value by value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "describe/assumption.h"
#include "explain/drawing.h"
#include "explain/estimate_view.h"

namespace sextant::explain {

struct SweepPoint {
  std::string value;
  std::int64_t global_batch = 0;
  // Nothing where the point is not legal …
  struct Answer {
    step::Estimate step;
    step::ComputeEstimate compute;  // of its slowest pipeline rank
  };
  std::optional<Answer> answer;
  std::vector<std::string> reasons;  // … for these reasons: "HEADS-TP: tp=3 does not divide …"
};

struct SweepAnswer {
  Provenance provenance;
  describe::Job job;    // as given
  std::string factor;   // "mbs"
  bool ordered = true;  // values are numbers
  std::string held;     // what stays the same, in a sentence
  std::vector<SweepPoint> points;
  describe::Assumptions assumed;
};

// JSON: schema sextant.estimate-sweep/3.
std::string to_text(const SweepAnswer& answer, const Style& style);

// Utilisation as lines over the values, below it the terms of the step as stacked bars.
Drawing to_drawing(const SweepAnswer& answer, const std::string& title);

}  // namespace sextant::explain
