// How far predictions are from measurements: row by row, and summed up per source and quantity.
//
// Scores follow one definition each. error = (predicted − measured) / measured (for a quantity that
// is measured as 0, such as `fits`, predicted − measured). mape, median_ape and p90_ape are of
// |error|, bias is the mean error. interval_coverage is the share of predictions with an interval
// that holds the measurement. kendall (tau-b) and top1_regret are means over layout groups of at
// least four predicted rows: does the predictor order layouts as the measurements do, and what does
// its favourite cost. Rows of trust C are reported and never scored.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "describe/assumption.h"
#include "measured/row.h"

namespace sextant::measured {

struct Prediction {
  double value = 0.0;                                 // in the quantity's own unit
  std::optional<std::pair<double, double>> interval;  // low, high
  describe::Assumptions assumed;
};
struct Refusal {
  std::string reason;
};
using Answer = std::variant<Prediction, Refusal>;
using Predictor = std::function<Answer(const Row&)>;

// The predictor that has no model: refuses every row with "not modelled yet".
Answer refuse_all(const Row& row);

struct ValidatedRow {
  std::string id;
  std::string source;
  std::string quantity;
  bool predicted = false;
  std::string reason;  // why not; "" where predicted
  double measured_value = 0.0;
  std::optional<double> predicted_value;
  std::optional<double> error;
  std::optional<std::pair<double, double>> interval = {};  // the prediction's, where it has one
  describe::Assumptions assumed;                           // the reader's, then the predictor's
};

struct ValidationSummary {
  std::string source;
  std::string quantity;
  std::int64_t rows = 0;  // all of them: predicted + refused
  std::int64_t predicted = 0;
  std::int64_t refused = 0;
  std::int64_t scored = 0;  // predicted, and of trust A or B
  std::optional<double> mape;
  std::optional<double> median_ape;
  std::optional<double> p90_ape;
  std::optional<double> bias;
  std::optional<double> interval_coverage;
  std::int64_t groups = 0;  // layout groups that were ranked
  std::optional<double> kendall;
  std::optional<double> top1_regret;
};

struct ValidationReport {
  std::vector<ValidatedRow> rows;          // in the order of the input
  std::vector<ValidationSummary> summary;  // sorted by source, then quantity
};

// Asks the predictor about every row that the reader did not refuse itself. A prediction that is
// not a finite number counts as refused.
ValidationReport validate(const std::vector<Row>& rows, const Predictor& predictor);

}  // namespace sextant::measured
