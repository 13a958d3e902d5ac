#include "cost/calibrate/cluster_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>

#include "cost/calibrate/fit.h"
#include "cost/comm/collective_time.h"

namespace sextant::cost {
namespace {

using describe::CollectiveOp;
using describe::LinkKey;

// log(fitted / measured), whatever was measured.
using LogError = std::function<double(std::span<const double> values, std::size_t row)>;

std::vector<std::size_t> first_rows(std::size_t count) {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

double mean_square(const LogError& error, std::span<const double> values,
                   std::span<const std::size_t> rows) {
  double sum = 0.0;
  for (const std::size_t row : rows) {
    sum += std::pow(error(values, row), 2.0);
  }
  return rows.empty() ? 0.0 : sum / static_cast<double>(rows.size());
}

struct LeastSquares {
  std::vector<double> values;
  double left = 0.0;  // mean |error|
};

LeastSquares least_squares(std::span<const double> start, std::size_t rows, const LogError& error) {
  constexpr double kRange = 1e4;  // wide: starts come from the timings
  constexpr int kRounds = 40;
  FitProblem problem;
  problem.all_rows = first_rows(rows);
  problem.rounds = kRounds;
  for (const double value : start) {
    problem.constants.push_back({.start = value,
                                 .least = value / kRange,
                                 .most = value * kRange,
                                 .rows = problem.all_rows});
  }
  problem.error = [&error](std::span<const double> values, std::span<const std::size_t> chosen) {
    return mean_square(error, values, chosen);
  };
  LeastSquares fitted{fitted_values(problem)};
  for (const std::size_t row : problem.all_rows) {
    fitted.left += std::abs(error(fitted.values, row)) / static_cast<double>(rows);
  }
  return fitted;
}

template <typename Timed>
bool all_positive(const std::vector<Timed>& rows) {
  return std::all_of(rows.begin(), rows.end(), [](const Timed& row) {
    return row.time > Seconds() && std::isfinite(row.time.base());
  });
}

Result<void> check(const ClusterBench& bench) {
  constexpr std::string_view kWanted = "at least one product, two all-reduces and two messages";
  if (bench.products.empty() || bench.all_reduces.size() < 2 || bench.messages.size() < 2) {
    return invalid("too few micro-benchmarks to calibrate a cluster from", "",
                   std::string(kWanted));
  }
  const auto sized = [](const TimedMessage& row) { return row.ranks >= 2 && row.bytes > Bytes(); };
  const bool legal = all_positive(bench.products) && all_positive(bench.all_reduces) &&
                     all_positive(bench.messages) &&
                     std::all_of(bench.all_reduces.begin(), bench.all_reduces.end(), sized) &&
                     std::all_of(bench.messages.begin(), bench.messages.end(), sized) &&
                     std::all_of(bench.products.begin(), bench.products.end(),
                                 [](const TimedProduct& row) { return row.work > Flops(); });
  if (!legal) {
    return invalid("a micro-benchmark without size or time", "", "positive numbers");
  }
  return {};
}

void fit_products(const std::vector<TimedProduct>& rows, ClusterConstants& constants) {
  // One constant: the mean of the logarithms is the least square.
  const auto count = static_cast<double>(rows.size());
  double sum = 0.0;
  for (const TimedProduct& row : rows) {
    sum += std::log(row.work.base() / row.time.base());
  }
  constants.product_rate = FlopsPerSecond(std::exp(sum / count));
  double squares = 0.0;
  for (const TimedProduct& row : rows) {
    squares += std::pow(std::log(row.work / constants.product_rate / row.time), 2.0);
  }
  constants.product_spread = std::sqrt(squares / count);
}

// The best rate and the least time that any row shows: where a search begins.
struct Extremes {
  double rate = 0.0;
  double time = std::numeric_limits<double>::infinity();
};
Extremes extremes_of(const std::vector<TimedMessage>& rows) {
  Extremes found;
  for (const TimedMessage& row : rows) {
    found.rate = std::max(found.rate, row.bytes / row.time / BytesPerSecond(1.0));
    found.time = std::min(found.time, row.time.base());
  }
  return found;
}

void fit_messages(const std::vector<TimedMessage>& rows, ClusterConstants& constants) {
  const Extremes seen = extremes_of(rows);
  const std::array<double, 2> start{seen.time, seen.rate};
  const LeastSquares fitted =
      least_squares(start, rows.size(), [&rows](std::span<const double> values, std::size_t row) {
        const double time = values[0] + rows[row].bytes.base() / values[1];
        return std::log(time / rows[row].time.base());
      });
  constants.message_start = Seconds(fitted.values[0]);
  constants.message_rate = BytesPerSecond(fitted.values[1]);
  constants.message_error = fitted.left;
}

void set_reduce(std::span<const double> values, ClusterConstants& constants) {
  constants.reduce_start = Seconds(values[0]);
  constants.reduce_hop = Seconds(values[1]);
  for (std::size_t i = 0; i < constants.reduce_rates.size(); ++i) {
    constants.reduce_rates[i] = BytesPerSecond(values[2 + i]);
  }
}

void fit_all_reduces(const std::vector<TimedMessage>& rows, ClusterConstants& constants) {
  const Extremes seen = extremes_of(rows);
  const std::array<double, 5> start{seen.time, seen.time, seen.rate, seen.rate, seen.rate};
  const LeastSquares fitted =
      least_squares(start, rows.size(), [&](std::span<const double> values, std::size_t at) {
        const TimedMessage& row = rows[at];
        ClusterConstants tried = constants;
        set_reduce(values, tried);
        const CommModel model = cluster_comm(tried, row.ranks);
        const Seconds time = collective_time(CollectiveOp::kAllReduce, row.bytes,
                                             {row.ranks, 1, row.ranks, 1}, model);
        return std::log(time / row.time);
      });
  set_reduce(fitted.values, constants);
  constants.reduce_error = fitted.left;
}

double below(double x) {
  constexpr double kRootHalf = 0.70710678118654752;
  return 0.5 * std::erfc(-x * kRootHalf);  // of a standard normal
}

}  // namespace

double expected_largest(std::int64_t count) {
  // The mean of a variable is the area above its distribution less that below, left of zero; the
  // largest of n is below x with the n-th power.
  constexpr double kStep = 1e-3;
  constexpr int kSteps = 8000;
  const auto ranks = static_cast<double>(std::max<std::int64_t>(count, 1));
  double area = 0.0;
  for (int i = 0; i < kSteps; ++i) {
    const double x = (static_cast<double>(i) + 0.5) * kStep;
    area += (1.0 - std::pow(below(x), ranks) - std::pow(below(-x), ranks)) * kStep;
  }
  return area;
}

Result<ClusterConstants> fit_cluster(const ClusterBench& bench) {
  SEXTANT_CHECK_OK(check(bench));
  ClusterConstants constants;
  fit_products(bench.products, constants);
  fit_messages(bench.messages, constants);
  fit_all_reduces(bench.all_reduces, constants);
  return constants;
}

CommModel cluster_comm(const ClusterConstants& constants, std::int64_t ranks) {
  CommModel model;
  const auto set = [&model](LinkKey key, double value) {
    model.link[static_cast<std::size_t>(key)] = value;
  };
  const double start = constants.reduce_start.base();
  const double hop = constants.reduce_hop.base();
  // One protocol, without chunks to fill.
  set(LinkKey::kLlBase, start);
  set(LinkKey::kLlHop, hop);
  set(LinkKey::kLlShare, 1.0);
  set(LinkKey::kBase, start);
  set(LinkKey::kHop, hop);
  // No trees: as slow as the longest ring.
  set(LinkKey::kTreeBase, start + 2.0 * static_cast<double>(ranks) * hop);
  for (std::size_t i = 0; i < constants.reduce_rates.size(); ++i) {
    const double rate = constants.reduce_rates[i].base();
    model.link[static_cast<std::size_t>(LinkKey::kAllReduce2) + i] = rate;
    model.link[static_cast<std::size_t>(LinkKey::kReduceScatter2) + i] = rate;
    model.link[static_cast<std::size_t>(LinkKey::kAllToAll2) + i] = rate;
    // Messages go by the rates of gathers.
    model.link[static_cast<std::size_t>(LinkKey::kAllGather2) + i] = constants.message_rate.base();
  }
  set(LinkKey::kExchangeLlBase, constants.message_start.base());
  set(LinkKey::kExchangeBase, constants.message_start.base());
  return model;
}

DeviceModel cluster_device(const ClusterConstants& constants, const ClusterMemory& memory) {
  const SecondsPerFlop flop = SecondsPerFlop(1.0 / constants.product_rate.base());
  const SecondsPerByte byte = SecondsPerByte(1.0 / memory.rate.base());
  DeviceModel model;
  model.power_ramp = 1_ns;
  model.rates.fill({.burst = flop, .slowdown = 0.0});
  model.peak.fill(flop);
  model.product.launch = memory.call;
  model.product.group_launch = memory.call;
  model.product.memory = byte;
  // A core that writes its results computes nothing meanwhile.
  model.product.exposed_output = 1.0;
  model.attention.launch = memory.call;
  model.attention.backward_launch = memory.call;
  model.stream.launch = memory.call;
  model.stream.next_launch = memory.call;
  model.stream.update_launch = memory.call;
  model.stream.memory = byte;
  // Source: torch/optim/adamw.py, one tensor at a time (what a CPU gets): twenty numbers read and
  // written for each parameter, of which the operator counts the seven of a fused kernel.
  constexpr double kMoreNumbers = 13.0;
  const Bytes more = Bytes(kMoreNumbers * sizeof(float));
  model.stream.element[static_cast<std::size_t>(VectorWork::kUpdate)] = more * byte;
  model.host_copy.pinned = byte;
  model.host_copy.pageable = byte;
  return model;
}

}  // namespace sextant::cost
