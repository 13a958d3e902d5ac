#include "cost/calibrate/fit.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sextant::cost {
namespace {

// Points of the coarse grid over a range, ends included.
constexpr int kGrid = 7;
// Steps of golden section; each shortens the range to 0.618 of it.
constexpr int kSections = 9;
constexpr double kGolden = 0.6180339887498949;  // (√5 − 1) / 2
// A round that gains less of the error than this is the last one, once ranges have narrowed.
constexpr double kWorthwhile = 2e-3;
constexpr int kLeastRounds = 4;
// What an improvement must exceed: rounding is none.
constexpr double kGain = 1e-9;

// The factor up and down from the present value in each round; the last one repeats.
double range_of(int round) {
  constexpr std::array<double, 6> kFactors{4.0, 2.0, 1.6, 1.4, 1.2, 1.1};
  return kFactors[std::min(static_cast<std::size_t>(round), kFactors.size() - 1)];
}

class Descent {
 public:
  explicit Descent(const FitProblem& problem) : problem_(problem) {
    for (const FitConstant& constant : problem.constants) {
      values_.push_back(std::clamp(constant.start, constant.least, constant.most));
    }
  }

  std::vector<double> run() {
    double error = problem_.error(values_, problem_.all_rows);
    for (int round = 0; round < problem_.rounds; ++round) {
      const std::vector<double> before = values_;
      for (std::size_t i = 0; i < values_.size(); ++i) {
        if (!problem_.constants[i].rows.empty()) {
          improve(i, range_of(round));
        }
      }
      const double left = go_on(before);
      if (round >= kLeastRounds && left > error * (1.0 - kWorthwhile)) {
        break;
      }
      error = left;
    }
    return values_;
  }

 private:
  double error_at(std::size_t index, double logarithm) {
    const double kept = values_[index];
    values_[index] = std::exp(logarithm);
    const double error = problem_.error(values_, problem_.constants[index].rows);
    values_[index] = kept;
    return error;
  }

  void improve(std::size_t index, double factor) {
    const FitConstant& constant = problem_.constants[index];
    const double present = values_[index];
    const double low = std::log(std::max(constant.least, present / factor));
    const double high = std::log(std::min(constant.most, present * factor));
    double best = std::log(present);
    const double start = problem_.error(values_, constant.rows);
    double least = start;
    const double step = (high - low) / (kGrid - 1);
    if (step <= 0.0) {
      return;
    }
    for (int point = 0; point < kGrid; ++point) {
      take(index, low + step * point, best, least);
    }
    narrow(index, std::max(low, best - step), std::min(high, best + step), best, least);
    if (least < start - kGain) {
      values_[index] = std::clamp(std::exp(best), constant.least, constant.most);
    }
  }

  void take(std::size_t index, double logarithm, double& best, double& least) {
    const double error = error_at(index, logarithm);
    if (error < least) {
      least = error;
      best = logarithm;
    }
  }

  // Golden section between two ends; every point it looks at may become the best one.
  void narrow(std::size_t index, double low, double high, double& best, double& least) {
    double left = high - kGolden * (high - low);
    double right = low + kGolden * (high - low);
    double at_left = error_at(index, left);
    double at_right = error_at(index, right);
    for (int section = 0; section < kSections; ++section) {
      if (at_left < at_right) {
        high = right;
        right = left;
        at_right = at_left;
        left = high - kGolden * (high - low);
        at_left = error_at(index, left);
      } else {
        low = left;
        left = right;
        at_left = at_right;
        right = low + kGolden * (high - low);
        at_right = error_at(index, right);
      }
      const double error = std::min(at_left, at_right);
      if (error < least) {
        least = error;
        best = at_left < at_right ? left : right;
      }
    }
  }

  // Farther along the way of the last round, twice as far each time, while that is better. The
  // error over all rows, then.
  double go_on(const std::vector<double>& before) {
    double least = problem_.error(values_, problem_.all_rows);
    const std::vector<double> after = values_;
    for (const double times : kTimes) {
      std::vector<double> farther = after;
      for (std::size_t i = 0; i < farther.size(); ++i) {
        const FitConstant& constant = problem_.constants[i];
        farther[i] = std::clamp(after[i] * std::pow(after[i] / before[i], times), constant.least,
                                constant.most);
      }
      const double error = problem_.error(farther, problem_.all_rows);
      if (error >= least - kGain) {
        break;
      }
      least = error;
      values_ = std::move(farther);
    }
    return least;
  }

  static constexpr std::array kTimes{1.0, 2.0, 4.0, 8.0};
  const FitProblem& problem_;
  std::vector<double> values_;
};

}  // namespace

std::vector<double> fitted_values(const FitProblem& problem) {
  return Descent(problem).run();
}

}  // namespace sextant::cost
