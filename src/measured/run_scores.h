// How far predicted steps of training runs are from measured ones: by source beside what must hold,
// by device, framework, layout and class of interval, with and without each inferred fact.
//
// Scored are step times of trust A or B that are predicted. Errors as measured/validate.h defines
// them; coverage is the share of measured steps inside the prediction's interval.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "describe/assumption.h"
#include "describe/step_spread.h"
#include "measured/run_groups.h"
#include "measured/validate.h"

namespace sextant::measured {

struct RunScore {
  std::string name;
  std::int64_t rows = 0;  // scored
  std::int64_t refused = 0;
  std::optional<double> mean;
  std::optional<double> median;
  std::optional<double> p90;
  std::optional<double> bias;
  std::optional<double> coverage;
};

// A part of the runs and the mean error that must hold of it.
struct RunTarget {
  RunScore score;
  double limit = 0.0;
  [[nodiscard]] bool holds() const { return score.mean && *score.mean <= limit; }
};

// A fact that rows leave open and a rule fills; numbers are shown as #.
struct AssumedScore {
  std::string fact;
  std::int64_t rows = 0;
  std::optional<double> with;     // mean error of the rows that it was assumed of
  std::optional<double> without;  // of the other rows of the same sources
};

struct RunScores {
  RunScore all;
  std::int64_t stated = 0;  // rows with model shape, layout and batch stated
  std::int64_t stated_predicted = 0;
  std::vector<RunTarget> targets;  // those with rows
  std::vector<RunScore> sources;
  std::vector<RunScore> devices;
  std::vector<RunScore> frameworks;
  std::vector<RunScore> layouts;
  std::vector<RunScore> classes;      // of intervals
  std::vector<AssumedScore> assumed;  // most rows first
  std::vector<ScalingSeries> scaling;
  // Of layouts, by source: those of the report that have groups.
  std::vector<ValidationSummary> rankings;
  std::map<std::string, double> top3;  // best_in_predicted_top3()
};

// Lists are sorted by name. REQUIRES: `report` is validate's of `rows`.
RunScores run_scores(const std::vector<Row>& rows, const ValidationReport& report,
                     const describe::StepSpreads& spreads);

// Of the scored rows: means over sources. Nothing of none.
std::optional<double> mean_kendall(const RunScores& scores);
std::optional<double> mean_regret(const RunScores& scores);
std::optional<double> mean_top3(const RunScores& scores);
std::optional<double> mean_difference(const RunScores& scores);  // over series

// A sentence with its numbers taken out: "rank #".
std::string without_numbers(std::string_view text);
// An assumption as what rows have in common: its numbers as #.
std::string fact_of(const describe::Assumption& assumption);

}  // namespace sextant::measured
