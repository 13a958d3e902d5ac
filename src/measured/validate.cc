#include "measured/validate.h"

#include <cmath>
#include <map>

#include "base/statistics.h"

namespace sextant::measured {

namespace {

constexpr std::size_t kSmallestGroup = 4;

double error_of(double predicted, double measured) {
  return measured == 0.0 ? predicted - measured : (predicted - measured) / measured;
}

// The scored rows of one source and quantity.
struct Score {
  ValidationSummary summary;
  std::vector<double> errors;
  std::vector<double> inside;  // 1 where the interval holds the measurement, else 0
  struct Group {
    std::vector<double> measured;
    std::vector<double> predicted;
  };
  std::map<std::string, Group> groups;
};

void add_scored(const Row& row, const Prediction& prediction, Score& score) {
  ++score.summary.scored;
  score.errors.push_back(error_of(prediction.value, row.measured));
  if (prediction.interval) {
    const auto& [low, high] = *prediction.interval;
    score.inside.push_back(low <= row.measured && row.measured <= high ? 1.0 : 0.0);
  }
  if (!row.layout_group.empty() && row.measured > 0.0) {
    Score::Group& group = score.groups[row.layout_group];
    group.measured.push_back(row.measured);
    group.predicted.push_back(prediction.value);
  }
}

ValidationSummary finished(Score score) {
  ValidationSummary summary = std::move(score.summary);
  std::vector<double> sizes;
  sizes.reserve(score.errors.size());
  for (const double error : score.errors) {
    sizes.push_back(std::abs(error));
  }
  summary.mape = mean(sizes);
  summary.median_ape = median(sizes);
  summary.p90_ape = quantile(sizes, 0.9);
  summary.bias = mean(score.errors);
  summary.interval_coverage = mean(score.inside);
  std::vector<double> taus;
  std::vector<double> regrets;
  for (const auto& [key, group] : score.groups) {
    if (group.measured.size() < kSmallestGroup) {
      continue;
    }
    ++summary.groups;
    if (const auto tau = kendall_tau_b(group.measured, group.predicted)) {
      taus.push_back(*tau);
    }
    if (const auto regret = top1_regret(group.measured, group.predicted)) {
      regrets.push_back(*regret);
    }
  }
  summary.kendall = mean(taus);
  summary.top1_regret = mean(regrets);
  return summary;
}

Answer answer_of(const Row& row, const Predictor& predictor) {
  if (row.refusal) {
    return Refusal{*row.refusal};
  }
  Answer answer = predictor(row);
  const auto* prediction = std::get_if<Prediction>(&answer);
  if (prediction != nullptr && !std::isfinite(prediction->value)) {
    return Refusal{"the prediction is not a finite number"};
  }
  return answer;
}

}  // namespace

Answer refuse_all(const Row& /*row*/) {
  return Refusal{"not modelled yet"};
}

ValidationReport validate(const std::vector<Row>& rows, const Predictor& predictor) {
  ValidationReport report;
  report.rows.reserve(rows.size());
  std::map<std::pair<std::string, std::string>, Score> scores;
  for (const Row& row : rows) {
    ValidatedRow out;
    out.id = row.id;
    out.source = row.source;
    out.quantity = row.quantity;
    out.measured_value = row.measured;
    out.assumed = row.assumed;
    Score& score = scores[{row.source, row.quantity}];
    ++score.summary.rows;
    const Answer answer = answer_of(row, predictor);
    if (const auto* prediction = std::get_if<Prediction>(&answer)) {
      out.predicted = true;
      out.predicted_value = prediction->value;
      out.error = error_of(prediction->value, row.measured);
      out.interval = prediction->interval;
      out.assumed.insert(out.assumed.end(), prediction->assumed.begin(), prediction->assumed.end());
      ++score.summary.predicted;
      if (row.trust != Trust::kC) {
        add_scored(row, *prediction, score);
      }
    } else {
      out.reason = std::get<Refusal>(answer).reason;
      ++score.summary.refused;
    }
    report.rows.push_back(std::move(out));
  }
  for (auto& [key, score] : scores) {
    score.summary.source = key.first;
    score.summary.quantity = key.second;
    report.summary.push_back(finished(std::move(score)));
  }
  return report;
}

}  // namespace sextant::measured
