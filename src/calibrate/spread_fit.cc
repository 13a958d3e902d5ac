#include "calibrate/spread_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/statistics.h"

namespace sextant::calibrate {
namespace {

constexpr std::size_t kFewest = 12;          // rows of a class
constexpr std::size_t kFewestOfSource = 10;  // rows of a source that speaks for itself
constexpr double kCovered = 0.8;
constexpr double kTail = 0.1;
constexpr double kFar = 0.1;    // a source this far from 80 % weighs as much as
constexpr double kPull = 20.0;  // ends moved by the square root of one over this

struct Ratio {
  std::string source;
  double value = 1.0;  // measured / predicted
};

struct Ends {
  double low = 1.0;
  double high = 1.0;
  [[nodiscard]] bool hold(double ratio) const { return low <= ratio && ratio <= high; }
};

// Ends are rounded outwards to hundredths.
Ends ends_at(const std::vector<double>& sorted, double below, double above) {
  const double low = quantile(sorted, below).value_or(1.0);
  const double high = quantile(sorted, 1.0 - above).value_or(1.0);
  return {std::min(1.0, std::max(0.01, std::floor(low * 100.0) / 100.0)),
          std::max(1.0, std::ceil(high * 100.0) / 100.0)};
}

// Ratios of sources with enough rows; all together where none has.
std::vector<std::vector<double>> voices(const std::vector<Ratio>& ratios) {
  std::map<std::string, std::vector<double>> sources;
  std::vector<double> all;
  for (const Ratio& ratio : ratios) {
    sources[ratio.source].push_back(ratio.value);
    all.push_back(ratio.value);
  }
  std::vector<std::vector<double>> found;
  for (auto& [source, own] : sources) {
    if (own.size() >= kFewestOfSource) {
      found.push_back(std::move(own));
    }
  }
  if (found.empty()) {
    found.push_back(std::move(all));
  }
  return found;
}

double share_inside(const std::vector<double>& ratios, const Ends& ends) {
  const auto held = std::ranges::count_if(ratios, [&](double one) { return ends.hold(one); });
  return static_cast<double>(held) / static_cast<double>(ratios.size());
}

Ends balanced_ends(const std::vector<Ratio>& ratios) {
  std::vector<double> sorted;
  for (const Ratio& ratio : ratios) {
    sorted.push_back(ratio.value);
  }
  std::ranges::sort(sorted);
  const auto heard = voices(ratios);
  Ends best;
  double least = -1.0;
  for (int below = -6; below <= 6; ++below) {
    for (int above = -6; above <= 6; ++above) {
      const double left = 0.01 * below;
      const double right = 0.01 * above;
      const Ends ends = ends_at(sorted, kTail + left, kTail + right);
      double far = 0.0;
      for (const auto& own : heard) {
        far += std::pow((share_inside(own, ends) - kCovered) / kFar, 4);
      }
      const double score =
          far / static_cast<double>(heard.size()) + kPull * (left * left + right * right);
      if (least < 0.0 || score < least) {
        least = score;
        best = ends;
      }
    }
  }
  return best;
}

// A third of the configurations, dealt in one of several ways.
std::size_t third_of(const std::string& configuration, std::uint64_t way) {
  // Source: FNV-1a, 64 bit.
  std::uint64_t hash = 14695981039346656037ULL ^ way;
  for (const char c : configuration) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return (hash >> 32U) % 3U;
}

// Of each sample: whether an interval holds it that was fitted on the other two thirds.
Result<std::vector<bool>> held_by_others(const std::vector<RunSample>& samples,
                                         const std::vector<Seconds>& predicted, std::uint64_t way) {
  std::vector<bool> held(samples.size());
  for (std::size_t third = 0; third < 3; ++third) {
    std::vector<RunSample> kept;
    std::vector<Seconds> of_kept;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (third_of(samples[i].configuration, way) != third) {
        kept.push_back(samples[i]);
        of_kept.push_back(predicted[i]);
      }
    }
    SEXTANT_TRY(const describe::StepSpreads others, fit_spreads(kept, of_kept, "two thirds"));
    const std::vector<bool> now = inside(samples, predicted, others);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      held[i] = third_of(samples[i].configuration, way) == third ? now[i] : held[i];
    }
  }
  return held;
}

}  // namespace

Result<describe::StepSpreads> fit_spreads(const std::vector<RunSample>& samples,
                                          const std::vector<Seconds>& predicted,
                                          const std::string& origin) {
  if (samples.size() < kFewest) {
    return invalid(fmt::format("{} runs can be predicted", samples.size()), origin,
                   fmt::format("at least {} for intervals", kFewest));
  }
  std::map<std::string, std::vector<Ratio>> classes;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (const std::string& name : describe::spread_classes(*samples[i].job)) {
      classes[name].push_back({samples[i].source, samples[i].measured / predicted[i]});
    }
  }
  std::vector<describe::StepSpread> spreads;
  for (const auto& [name, ratios] : classes) {
    if (ratios.size() < kFewest) {
      continue;
    }
    const Ends ends = balanced_ends(ratios);
    spreads.push_back({name, ends.low, ends.high, static_cast<std::int64_t>(ratios.size()),
                       fmt::format("sextant calibrate: quantiles of measured / predicted near 10 "
                                   "and 90 %, {} rows of {}",
                                   ratios.size(), origin)});
  }
  return describe::StepSpreads::of_classes(std::move(spreads));
}

std::vector<bool> inside(const std::vector<RunSample>& samples,
                         const std::vector<Seconds>& predicted,
                         const describe::StepSpreads& spreads) {
  std::vector<bool> held;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const describe::StepSpread& spread = spreads.of(*samples[i].job);
    const double ratio = samples[i].measured / predicted[i];
    held.push_back(spread.low <= ratio && ratio <= spread.high);
  }
  return held;
}

Result<std::vector<SpreadCoverage>> spread_coverage(const std::vector<RunSample>& samples,
                                                    const std::vector<Seconds>& predicted) {
  SEXTANT_TRY(const describe::StepSpreads all, fit_spreads(samples, predicted, "all"));
  const std::vector<bool> seen = inside(samples, predicted, all);
  constexpr std::uint64_t kWays = 5;
  std::vector<double> unseen(samples.size());
  for (std::uint64_t way = 0; way < kWays; ++way) {
    SEXTANT_TRY(const std::vector<bool> held, held_by_others(samples, predicted, way));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      unseen[i] += held[i] ? 1.0 / static_cast<double>(kWays) : 0.0;
    }
  }
  std::map<std::string, SpreadCoverage> sources;
  SpreadCoverage total{"all", 0, 0.0, 0.0};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (SpreadCoverage* one : {&sources[samples[i].source], &total}) {
      one->rows += 1;
      one->seen += seen[i] ? 1.0 : 0.0;
      one->unseen += unseen[i];
    }
  }
  std::vector<SpreadCoverage> found;
  for (auto& [source, one] : sources) {
    one.source = source;
    found.push_back(std::move(one));
  }
  found.push_back(std::move(total));
  for (SpreadCoverage& one : found) {
    one.seen /= static_cast<double>(std::max<std::int64_t>(one.rows, 1));
    one.unseen /= static_cast<double>(std::max<std::int64_t>(one.rows, 1));
  }
  return found;
}

}  // namespace sextant::calibrate
