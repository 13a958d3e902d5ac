#include "cost/calibrate/kernel_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cost/calibrate/fit.h"
#include "describe/kernel_fact_list.h"

namespace sextant::cost {
namespace {

using describe::Device;
using describe::DType;
using describe::KernelFact;
using describe::KernelFacts;
using describe::SourceKind;

// Below this the host decides how long a call takes (docs/models/compute.md).
constexpr Seconds kHostBound = 20_us;
constexpr std::int64_t kFewestCalls = 3;

// What a key is judged by: kinds of calls, its bounds in the unit of the facts (seconds, ratio,
// count), and whether short calls say nothing about it.
struct Rule {
  std::string_view key;  // of rates: the last word
  std::string_view kinds;
  double least = 0.0;
  double most = 0.0;
  bool rate = false;
  std::int64_t fewest = kFewestCalls;
};
constexpr double kLow = 0.05;    // shares
constexpr double kHigh = 1.2;    // shares: clocks above the datasheet's are possible
constexpr double kBrief = 1e-8;  // seconds
constexpr double kLong = 1e-2;   // seconds
constexpr double kFewCycles = 1e-4;
constexpr double kManyCycles = 50.0;
// The host first: where it is thought too slow, nothing else shows.
constexpr std::array kRules{
    Rule{"issue.kernel", "launch", kBrief, kLong, false, 1},
    Rule{"issue.elementwise", "memory", kBrief, kLong},
    Rule{"issue.norm", "memory", kBrief, kLong},
    Rule{"issue.norm_gradient", "memory", kBrief, kLong},
    Rule{"issue.product", "gemm bmm", kBrief, kLong},
    Rule{"issue.view", "gemm", kBrief, kLong},
    Rule{"issue.scaled_product", "gemm", kBrief, kLong},
    Rule{"issue.attention", "attention", kBrief, kLong},
    Rule{"issue.attention_gradient", "attention", kBrief, kLong},
    Rule{"issue.update", "optimizer", kBrief, kLong},
    Rule{"issue.foreach_update", "optimizer", kBrief, kLong},
    Rule{"burst", "gemm bmm grouped", kLow, kHigh, true},
    Rule{"sustained", "gemm bmm grouped attention", kLow, kHigh, true},
    Rule{"power.ramp", "gemm bmm grouped", 1e-6, 1.0, true},
    Rule{"product.launch", "gemm bmm", kBrief, kLong},
    Rule{"product.small_tile", "gemm bmm grouped", 0.3, kHigh, true},
    Rule{"product.input_gradient", "gemm grouped", 0.5, 2.0, true},
    Rule{"product.weight_gradient", "gemm grouped", 0.5, 2.0, true},
    Rule{"product.exposed_output", "gemm bmm grouped", kLow, kHigh, true},
    Rule{"product.bandwidth", "gemm bmm grouped", kLow, kHigh, true},
    Rule{"product.split", "gemm", kBrief, kLong, true},
    Rule{"product.split_depth", "gemm", 64.0, 65536.0, true},
    Rule{"product.group_launch", "grouped", kBrief, kLong},
    Rule{"attention.flash_forward", "attention", kLow, kHigh, true},
    Rule{"attention.flash_backward", "attention", kLow, kHigh, true},
    Rule{"attention.cudnn_forward", "attention", kLow, kHigh, true},
    Rule{"attention.cudnn_backward", "attention", kLow, kHigh, true},
    Rule{"attention.forward_keys", "attention", 1.0, 4096.0, true},
    Rule{"attention.backward_keys", "attention", 1.0, 4096.0, true},
    Rule{"attention.tail", "attention", 0.01, 8.0, true},
    Rule{"attention.backward_launch", "attention", kBrief, kLong},
    Rule{"attention.math_forward", "attention", 0.1, 200.0, true},
    Rule{"attention.math_backward", "attention", 0.1, 200.0, true},
    Rule{"stream.launch", "memory", kBrief, kLong},
    Rule{"stream.bandwidth", "memory loss optimizer", kLow, kHigh, true},
    Rule{"stream.move", "memory", kFewCycles, kManyCycles, true},
    Rule{"stream.indexed", "memory", kFewCycles, kManyCycles, true},
    Rule{"stream.activation", "memory", kFewCycles, kManyCycles, true},
    Rule{"stream.norm", "memory", kFewCycles, kManyCycles, true},
    Rule{"stream.norm_gradient", "memory", kFewCycles, kManyCycles, true},
    Rule{"stream.reread", "memory", kFewCycles, kManyCycles, true},
    Rule{"stream.kept_columns", "memory", 64.0, 1e6, true},
    Rule{"stream.random", "memory", kFewCycles, kManyCycles, true},
    Rule{"stream.loss", "loss", kFewCycles, kManyCycles, true},
    Rule{"stream.loss_gradient", "loss", kFewCycles, kManyCycles, true},
    Rule{"stream.update", "optimizer", kFewCycles, kManyCycles, true},
    Rule{"stream.update_launch", "optimizer", kBrief, kLong},
    Rule{"host_copy.launch", "pcie", kBrief, kLong},
    Rule{"host_copy.pinned", "pcie", kLow, kHigh, true},
    Rule{"host_copy.pageable", "pcie", kLow, kHigh, true},
    Rule{"host_copy.pageable_launch", "pcie", kBrief, kLong},
};

bool rule_speaks_of(const Rule& rule, const TimedCall& call) {
  if (rule.rate && call.measured < kHostBound) {
    return false;
  }
  const std::vector<std::string_view> kinds = split(rule.kinds, ' ');
  return std::find(kinds.begin(), kinds.end(), call.kind) != kinds.end();
}

bool is_of(const Rule& rule, const std::string& key) {
  return key == rule.key ||
         (key.starts_with("rates.") && key.ends_with(fmt::format(".{}", rule.key)));
}

ModelPair models_of(const KernelFacts& facts, const Device& device) {
  return {device_model(facts, device, describe::AttentionKernel::kFlash),
          device_model(facts, device, describe::AttentionKernel::kCudnn)};
}

// Formats of products that have no shares of their own, and calls enough to get some.
void add_formats(const std::vector<TimedCall>& calls, KernelFacts& facts) {
  std::map<DType, std::int64_t> seen;
  for (const TimedCall& call : calls) {
    if (call.format && call.measured >= kHostBound) {
      seen[*call.format] += 1;
    }
  }
  const auto of = [&facts](DType dtype) -> std::optional<describe::RateFacts>& {
    return facts.rates[static_cast<std::size_t>(dtype)];
  };
  for (const auto& [dtype, count] : seen) {
    const bool eight_bits = dtype == DType::kFp6 || dtype == DType::kFp4 || dtype == DType::kInt8;
    if (count >= kFewestCalls && !of(dtype)) {
      of(dtype) = eight_bits && of(DType::kFp8) ? of(DType::kFp8) : of(DType::kBf16);
    }
  }
}

// The same predictions without the rule that scales power: facts of this device itself.
void take_own_power(const Device& device, KernelFacts& facts) {
  const ModelPair models = models_of(facts, device);
  for (std::size_t i = 0; i < facts.rates.size(); ++i) {
    if (auto& rates = facts.rates[i]) {
      rates->sustained.value = rates->burst.value / (1.0 + models.flash.rates[i].slowdown);
    }
  }
  facts.attention.flash.forward.value = 1.0 / models.flash.attention.forward;
  facts.attention.flash.backward.value = 1.0 / models.flash.attention.backward;
  facts.attention.cudnn.forward.value = 1.0 / models.cudnn.attention.forward;
  facts.attention.cudnn.backward.value = 1.0 / models.cudnn.attention.backward;
  const double watts = device.power_limit.value / 1_W;
  for (const DType dtype : {DType::kBf16, DType::kFp16, DType::kFp32}) {
    if (const auto& peak = device.peak(dtype); peak && watts > 0.0) {
      facts.power.watts_per_tflops = {watts / (peak->value / 1_TFLOPps), SourceKind::kDatasheet,
                                      fmt::format("power limit over peak of {}", device.id)};
      break;
    }
  }
  facts.measured_on = device.id;
  facts.scaled = false;
}

// Whether a time changes by more than rounding does.
bool differ(Seconds a, Seconds b) {
  constexpr double kRounding = 1e-6;
  return std::abs(a.base() - b.base()) > kRounding * std::max(a.base(), b.base());
}

// One fit: the facts that are changed, a rule for each key it may change, and the calls.
class Fit {
 public:
  Fit(const std::vector<TimedCall>& calls, const Device& device, KernelFacts& facts)
      : calls_(calls), device_(device), facts_(facts), list_(describe::kernel_fact_list(facts)) {
    for (const Rule& rule : kRules) {
      for (std::size_t i = 0; i < list_.size(); ++i) {
        if (is_of(rule, list_[i].key())) {
          keys_.push_back({i, &rule, list_[i].number(), list_[i].text(), {}});
        }
      }
    }
  }

  std::vector<FittedKey> run() {
    find_rows();
    FitProblem problem;
    for (const Key& key : keys_) {
      const bool enough = std::cmp_greater_equal(key.rows.size(), key.rule->fewest);
      problem.constants.push_back({.start = key.start,
                                   .least = key.rule->least,
                                   .most = key.rule->most,
                                   .rows = enough ? key.rows : std::vector<std::size_t>()});
    }
    problem.all_rows.resize(calls_.size());
    std::iota(problem.all_rows.begin(), problem.all_rows.end(), std::size_t{0});
    problem.error = [this](std::span<const double> values, std::span<const std::size_t> rows) {
      return error(values, rows);
    };
    const std::vector<double> values = fitted_values(problem);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (!problem.constants[i].rows.empty()) {
        list_[keys_[i].index].set_number(values[i]);
      } else {
        list_[keys_[i].index].set_number(keys_[i].start);
      }
    }
    for (auto& rates : facts_.rates) {
      if (rates) {
        rates->sustained.value = std::min(rates->sustained.value, rates->burst.value);
      }
    }
    return results();
  }

 private:
  struct Key {
    std::size_t index = 0;  // in the list of facts
    const Rule* rule = nullptr;
    double start = 0.0;
    std::string before;
    std::vector<std::size_t> rows;
  };

  [[nodiscard]] std::vector<CallTime> times() const {
    const ModelPair models = models_of(facts_, device_);
    std::vector<CallTime> all;
    all.reserve(calls_.size());
    for (const TimedCall& call : calls_) {
      all.push_back(call.predict(models));
    }
    return all;
  }

  // Calls whose time, or the host's part of it, moves with the key.
  void find_rows() {
    const std::vector<CallTime> before = times();
    for (Key& key : keys_) {
      std::vector<bool> moved(calls_.size(), false);
      constexpr std::array kFactors{0.5, 2.0};
      for (const double factor : kFactors) {
        list_[key.index].set_number(key.start * factor);
        const std::vector<CallTime> after = times();
        for (std::size_t i = 0; i < calls_.size(); ++i) {
          moved[i] = moved[i] || differ(before[i].device, after[i].device) ||
                     differ(before[i].issue, after[i].issue);
        }
      }
      list_[key.index].set_number(key.start);
      for (std::size_t i = 0; i < calls_.size(); ++i) {
        if (moved[i] && rule_speaks_of(*key.rule, calls_[i])) {
          key.rows.push_back(i);
        }
      }
    }
  }

  double error(std::span<const double> values, std::span<const std::size_t> rows) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      list_[keys_[i].index].set_number(values[i]);
    }
    const ModelPair models = models_of(facts_, device_);
    double sum = 0.0;
    for (const std::size_t row : rows) {
      const Seconds predicted = calls_[row].predict(models).alone();
      sum += std::abs(std::log(predicted / calls_[row].measured));
    }
    return rows.empty() ? 0.0 : sum / static_cast<double>(rows.size());
  }

  // Counts the calls that still depend on each key; a key that too few depend on goes back.
  std::vector<FittedKey> results() {
    std::vector<FittedKey> found;
    const std::vector<CallTime> before = times();
    for (Key& key : keys_) {
      KernelFact& fact = list_[key.index];
      const double value = fact.number();
      constexpr double kNudge = 1.2;
      fact.set_number(value * kNudge);
      const std::vector<CallTime> more = times();
      fact.set_number(value / kNudge);
      const std::vector<CallTime> less = times();
      fact.set_number(value);
      FittedKey result{fact.key(), key.before, {}, 0, 0.0, false};
      for (const std::size_t row : key.rows) {
        if (differ(before[row].alone(), more[row].alone()) ||
            differ(before[row].alone(), less[row].alone())) {
          result.calls += 1;
          result.error += std::abs(before[row].alone() / calls_[row].measured - 1.0);
        }
      }
      result.error /= static_cast<double>(std::max<std::int64_t>(result.calls, 1));
      result.fitted = result.calls >= key.rule->fewest;
      if (!result.fitted) {
        fact.set_number(key.start);
      }
      result.after = fact.text();
      found.push_back(std::move(result));
    }
    return found;
  }

  const std::vector<TimedCall>& calls_;
  const Device& device_;
  KernelFacts& facts_;
  std::vector<KernelFact> list_;
  std::vector<Key> keys_;
};

}  // namespace

std::vector<FamilyError> family_errors(const std::vector<TimedCall>& calls,
                                       const KernelFacts& facts, const Device& device) {
  const ModelPair models = models_of(facts, device);
  std::vector<FamilyError> families;
  for (const TimedCall& call : calls) {
    auto found = std::find_if(families.begin(), families.end(),
                              [&](const FamilyError& f) { return f.family == call.family; });
    if (found == families.end()) {
      found = families.insert(families.end(), {call.family, 0, 0.0});
    }
    found->calls += 1;
    found->error += std::abs(call.predict(models).alone() / call.measured - 1.0);
  }
  for (FamilyError& family : families) {
    family.error /= static_cast<double>(family.calls);
  }
  return families;
}

KernelFit fit_kernels(const std::vector<TimedCall>& calls, const Device& device,
                      const KernelFacts& start, const std::string& table) {
  KernelFit fit{start, {}};
  add_formats(calls, fit.facts);
  take_own_power(device, fit.facts);
  fit.keys = Fit(calls, device, fit.facts).run();
  for (KernelFact& fact : describe::kernel_fact_list(fit.facts)) {
    for (const FittedKey& key : fit.keys) {
      if (key.fitted && key.key == fact.key()) {
        fact.set_source(
            SourceKind::kFitted,
            fmt::format("fitted by sextant calibrate on {} rows of {}, mean error {:.1f} %",
                        with_thousands(key.calls), table, key.error * 100.0));
      }
    }
  }
  return fit;
}

std::vector<HalfSplit> half_split(const std::vector<TimedCall>& calls, const Device& device,
                                  const KernelFacts& start) {
  std::array<std::vector<TimedCall>, 2> halves;
  std::map<std::string, std::map<std::string, std::size_t>> shapes;  // kind → shape → number
  for (const TimedCall& call : calls) {
    auto& known = shapes[call.kind];
    const std::size_t number = known.emplace(call.shape, known.size()).first->second;
    halves[number % 2].push_back(call);
  }
  std::map<std::string, std::array<double, 4>> sums;  // seen, calls, unseen, calls
  for (const std::size_t fitted : {std::size_t{0}, std::size_t{1}}) {
    const KernelFacts facts = fit_kernels(halves[fitted], device, start, "half a table").facts;
    for (const std::size_t scored : {fitted, 1 - fitted}) {
      for (const FamilyError& family : family_errors(halves[scored], facts, device)) {
        auto& sum = sums[family.family];
        const std::size_t at = scored == fitted ? 0 : 2;
        sum[at] += family.error * static_cast<double>(family.calls);
        sum[at + 1] += static_cast<double>(family.calls);
      }
    }
  }
  std::vector<HalfSplit> split;
  for (const FamilyError& family : family_errors(calls, start, device)) {
    const auto& sum = sums[family.family];
    split.push_back(
        {family.family, sum[0] / std::max(sum[1], 1.0), sum[2] / std::max(sum[3], 1.0)});
  }
  return split;
}

}  // namespace sextant::cost
