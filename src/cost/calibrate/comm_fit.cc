#include "cost/calibrate/comm_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "cost/calibrate/fit.h"
#include "describe/comm_spread.h"

namespace sextant::cost {
namespace {

using describe::CollectiveOp;
using describe::CommKey;
using describe::CommUnit;
using describe::LinkKey;

constexpr std::size_t kFewestRows = 3;
// What it costs a constant to leave its start by a factor of e, in mean error: so little that three
// timings outweigh it, so much that a constant nothing speaks of stays.
constexpr double kPull = 0.004;
constexpr double kRingRange = 1.1;

double weight_of(Bytes bytes) {
  constexpr std::array<double, describe::kSizeClasses> kWeights{1.0, 1.0, 1.3, 2.0, 3.0};
  return kWeights[describe::size_class(bytes)];
}

// Weights: by size, and each run the same.
std::vector<double> weights_of(std::span<const TimedCollective> calls) {
  std::map<std::string_view, double> runs;
  for (const TimedCollective& call : calls) {
    runs[call.run] += 1.0;
  }
  std::vector<double> weights;
  for (const TimedCollective& call : calls) {
    weights.push_back(weight_of(call.bytes) / runs[call.run]);
  }
  return weights;
}

// Does a key of the links speak of the operation? Keys of networks all do, by their table.
bool key_speaks_of(const CommKey& key, CollectiveOp op) {
  const bool exchange = op == CollectiveOp::kAllToAll || op == CollectiveOp::kSendReceive;
  if (key.table == "exchange") {
    return exchange && (key.name != "message" || op == CollectiveOp::kSendReceive) &&
           (key.name != "all_to_all" || op == CollectiveOp::kAllToAll);
  }
  if (key.table == "ll" && key.name != "base") {
    return true;
  }
  if (key.table == "all_reduce" || key.table == "tree" || key.table == "nvls" ||
      key.name == "tree") {
    return op == CollectiveOp::kAllReduce;
  }
  if (key.table == "all_gather") {
    return op == CollectiveOp::kAllGather;
  }
  if (key.table == "reduce_scatter") {
    return op == CollectiveOp::kReduceScatter;
  }
  if (key.table == "all_to_all") {
    return op == CollectiveOp::kAllToAll;
  }
  return !exchange;
}

bool fits(const CommKey& key, const TimedCollective& call) {
  if (key.table == "timer") {
    return call.timer == (key.name == "xla" ? CommTimer::kXla : CommTimer::kTorch);
  }
  if (!key_speaks_of(key, call.op)) {
    return false;
  }
  // Rates are of group sizes.
  const std::int64_t ranks = call.group.per_domain;
  if (key.unit == CommUnit::kRate && key.name == "two") {
    return ranks < 4;
  }
  if (key.unit == CommUnit::kRate && key.name == "four") {
    return ranks > 2 && ranks < 8;
  }
  if (key.unit == CommUnit::kRate && key.name == "eight") {
    return ranks > 4;
  }
  if (key.name == "lone") {
    return ranks == 1;
  }
  return true;
}

bool says_what_exists(const CommKey& key) {
  return key.name == "gain" || key.name == "least_ranks" || key.table == "rails" ||
         key.table == "collnet";
}

FitConstant constant_of(const CommKey& key, double start, std::span<const TimedCollective> calls) {
  FitConstant constant;
  constant.start = start;
  if (key.name == "fill") {
    constant.least = 0.02;
    constant.most = 2.0;
  } else if (key.unit == CommUnit::kRatio) {
    constant.least = 0.02;
    constant.most = 1.0;
  } else {
    const double range = key.unit == CommUnit::kRate ? 3.0 : 30.0;
    constant.least = start / range;
    constant.most = start * range;
  }
  if (!is_fitted(key, start)) {
    constant.least = constant.most = std::max(start, 1e-300);
    return constant;
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (fits(key, calls[i])) {
      constant.rows.push_back(i);
    }
  }
  if (constant.rows.size() < kFewestRows) {
    constant.rows.clear();
  }
  return constant;
}

using Put = void (*)(std::span<const double>, const TimedCollective&, CommModel&);

void put_links(std::span<const double> values, const TimedCollective& call, CommModel& model) {
  for (std::size_t i = 0; i < model.link.size(); ++i) {
    const bool rate = describe::kLinkKeys[i].unit == CommUnit::kRate;
    model.link[i] = values[i] * (rate ? call.rate_scale : 1.0);
  }
}

void put_network(std::span<const double> values, const TimedCollective& /*call*/,
                 CommModel& model) {
  std::ranges::copy(values, model.network.begin());
}

CommLines lines_of(const TimedCollective& call, const CommModel& model) {
  CommLines lines = comm_lines(call.op, call.group, model);
  if (call.only != CommAlgorithm::kNone) {
    lines.keep(call.only);
  }
  if (call.without != CommAlgorithm::kNone) {
    lines.drop(call.without);
  }
  return lines;
}

Seconds timer_of(const TimedCollective& call, const CommModel& model) {
  switch (call.timer) {
    case CommTimer::kXla:
      return Seconds(model[LinkKey::kTimerXla]);
    case CommTimer::kTorch:
      return Seconds(model[LinkKey::kTimerTorch]);
    case CommTimer::kLibrary:
      break;
  }
  return {};
}

// Sizes of one run follow each other: the ways to run them are the same.
bool same_ways(const TimedCollective& one, const TimedCollective& other) {
  return one.op == other.op && one.group == other.group && one.only == other.only &&
         one.without == other.without && one.rate_scale == other.rate_scale &&
         one.model == other.model;
}

// Predicts calls one after the other with the same constants.
class Teller {
 public:
  Teller(std::span<const TimedCollective> calls, Put put) : put_(put) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      first_.push_back(i > 0 && same_ways(calls[i - 1], calls[i]) ? first_.back() : i);
    }
  }

  // With other constants from here on.
  void turn(std::span<const double> values) {
    values_ = values;
    made_ = first_.size();
  }
  Seconds time(std::span<const TimedCollective> calls, std::size_t row) {
    const TimedCollective& call = calls[row];
    if (first_[row] != made_) {
      made_ = first_[row];
      model_ = call.model;
      put_(values_, call, model_);
      lines_ = lines_of(call, model_);
    }
    return lines_.time(call.bytes) + timer_of(call, model_);
  }

 private:
  Put put_;
  std::vector<std::size_t> first_;  // of the rows with the same ways
  std::span<const double> values_;
  std::size_t made_ = 0;
  CommModel model_;
  CommLines lines_;
};

double mean_error(std::span<const TimedCollective> calls, std::span<const double> values,
                  Teller& teller) {
  teller.turn(values);
  double sum = 0.0;
  for (std::size_t row = 0; row < calls.size(); ++row) {
    sum += std::abs(teller.time(calls, row) / calls[row].measured - 1.0);
  }
  return calls.empty() ? 0.0 : sum / static_cast<double>(calls.size());
}

double way_from(std::span<const double> start, std::span<const double> values) {
  double way = 0.0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    way += start[i] > 0.0 ? std::abs(std::log(values[i] / start[i])) : 0.0;
  }
  return way;
}

FitProblem problem_of(std::span<const TimedCollective> calls, std::span<const double> start,
                      std::span<const CommKey> keys, int rounds) {
  FitProblem problem;
  problem.rounds = rounds;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    problem.constants.push_back(constant_of(keys[i], start[i], calls));
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    problem.all_rows.push_back(i);
  }
  return problem;
}

CommFit fit(FitProblem problem, std::span<const TimedCollective> calls,
            std::span<const double> start, Put put) {
  const std::vector<double> weights = weights_of(calls);
  std::vector<double> values(start.begin(), start.end());
  Teller teller(calls, put);
  problem.error = [&](std::span<const double> tried, std::span<const std::size_t> rows) {
    // A constant of 0 has no logarithm and stays.
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = start[i] > 0.0 ? tried[i] : start[i];
    }
    teller.turn(values);
    double sum = 0.0;
    double whole = 0.0;
    for (const std::size_t row : rows) {
      const double ratio = teller.time(calls, row) / calls[row].measured;
      sum += weights[row] * std::abs(std::log(ratio));
      whole += weights[row];
    }
    return (whole > 0.0 ? sum / whole : 0.0) + kPull * way_from(start, values);
  };
  CommFit result;
  result.values = fitted_values(problem);
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (problem.constants[i].rows.empty()) {
      result.values[i] = start[i];
    }
    result.timings.push_back(static_cast<std::int64_t>(problem.constants[i].rows.size()));
  }
  result.before = mean_error(calls, start, teller);
  result.after = mean_error(calls, result.values, teller);
  return result;
}

}  // namespace

bool is_fitted(const CommKey& key, double value) {
  return value > 0.0 && !says_what_exists(key);
}

Seconds predicted(const TimedCollective& call) {
  return lines_of(call, call.model).time(call.bytes) + timer_of(call, call.model);
}

void put_values(std::span<const double> values, bool links, TimedCollective& call) {
  (links ? put_links : put_network)(values, call, call.model);
}

CommFit fit_links(std::span<const TimedCollective> calls, std::span<const double> start,
                  int rounds) {
  FitProblem problem = problem_of(calls, start, describe::kLinkKeys, rounds);
  const auto at = [](LinkKey key) { return static_cast<std::size_t>(key); };
  if (start[at(LinkKey::kSwitchRate)] > 0.0) {
    // Timings are of what the library chose, the switch: they don't tell how fast its rings are.
    FitConstant& ring = problem.constants[at(LinkKey::kAllReduce8)];
    ring.least = ring.start / kRingRange;
    ring.most = ring.start * kRingRange;
  }
  return fit(problem, calls, start, put_links);
}

CommFit fit_network(std::span<const TimedCollective> calls, std::span<const double> start,
                    int rounds) {
  return fit(problem_of(calls, start, describe::kNetworkKeys, rounds), calls, start, put_network);
}

}  // namespace sextant::cost
