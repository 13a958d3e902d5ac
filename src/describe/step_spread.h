// How far measured steps lie from predicted ones (data/step_spread.toml), by class of job.
//
// A class is told by properties of the job alone: fine-tuning, framework, experts, precision, one
// scale-up domain or more. Classes are few and wide, so that jobs which no fit has seen find
// theirs; one with too few measured rows is not in the file, and its jobs have the class around it,
// "all" at the end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "describe/layout/job.h"

namespace sextant::describe {

// Eight of ten measured steps of the class take between low and high times what is predicted.
struct StepSpread {
  std::string name;
  double low = 1.0;       // ≤ 1: the prediction is inside
  double high = 1.0;      // ≥ 1
  std::int64_t rows = 0;  // measured ones that it was fitted on
  std::string source;
};

// The classes a job belongs to, narrowest first; the last is "all".
std::vector<std::string> spread_classes(const Job& job);

class StepSpreads {
 public:
  // An Error where the class "all" is not among them.
  static Result<StepSpreads> of_classes(std::vector<StepSpread> classes);

  // The narrowest class of the job that has rows enough.
  [[nodiscard]] const StepSpread& of(const Job& job) const;
  // By name.
  [[nodiscard]] const std::map<std::string, StepSpread, std::less<>>& classes() const {
    return classes_;
  }

 private:
  StepSpreads() = default;
  std::map<std::string, StepSpread, std::less<>> classes_;
};

Result<StepSpreads> step_spreads(const DataStore& data);
// The same of a text; `where` names it in errors.
Result<StepSpreads> parse_step_spreads(std::string_view text, std::string_view where);

// The file of such classes, as step_spreads reads it.
std::string step_spread_text(const StepSpreads& spreads);

}  // namespace sextant::describe
