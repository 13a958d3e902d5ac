#include "calibrate/difference_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/statistics.h"

namespace sextant::calibrate {
namespace {

using describe::Change;
using describe::DifferenceFile;
using describe::DifferenceSpread;
using describe::DifferenceSpreads;

constexpr std::size_t kFewestPairs = 20;         // of a class
constexpr std::size_t kFewestPairsOfSource = 5;  // of a source that speaks for itself
// A class of two sources would be that of one as soon as either is left out.
constexpr std::size_t kFewestVoices = 3;
constexpr double kPairsCovered = 0.8;

// SourceErrors by source.
using SourceErrors = std::map<std::string, std::vector<double>>;

std::string pairing_key(const RunSample& sample) {
  const describe::Job& job = *sample.job;
  return fmt::format("{}|{}|{}x{}x{}|{}|{}|{}|{}", sample.source, sample.origin,
                     job.model.layer_count(), job.model.hidden, job.model.vocab,
                     job.cluster.device.id, job.cluster.fabric.id, static_cast<int>(job.framework),
                     static_cast<int>(job.workload));
}

double device_speed(const describe::Job& job, Seconds step) {
  return static_cast<double>(job.global_batch) * static_cast<double>(job.sequences.length) /
         static_cast<double>(job.cluster.devices) / step.base();
}

// A pair speaks for its narrowest class and for the one around it; for all differences only where
// no narrower class names what differs.
std::vector<std::string> fed_classes(const std::vector<Change>& changes) {
  std::vector<std::string> classes = describe::difference_classes(changes);
  constexpr std::size_t kFed = 2;
  const bool single = changes.size() == 1 && classes.size() > 1;
  classes.resize(std::min(classes.size(), single ? kFed : 1));
  return classes;
}

// Sorted errors of each source with enough pairs, and of all others together.
std::vector<std::vector<double>> difference_voices(const SourceErrors& errors,
                                                   const std::string& left_out) {
  std::vector<std::vector<double>> found;
  std::vector<double> others;
  for (const auto& [source, own] : errors) {
    if (source == left_out) {
      continue;
    }
    if (own.size() >= kFewestPairsOfSource) {
      found.push_back(own);
    } else {
      others.insert(others.end(), own.begin(), own.end());
    }
  }
  if (others.size() >= kFewestPairsOfSource) {
    found.push_back(std::move(others));
  }
  for (std::vector<double>& own : found) {
    std::ranges::sort(own);
  }
  return found;
}

double share_below(const std::vector<double>& sorted, double limit) {
  return static_cast<double>(std::ranges::upper_bound(sorted, limit) - sorted.begin()) /
         static_cast<double>(sorted.size());
}

// The least error that covers eight of ten of a source, in the mean over them.
double covering_error(const std::vector<std::vector<double>>& voices) {
  std::vector<double> limits;
  for (const std::vector<double>& own : voices) {
    limits.insert(limits.end(), own.begin(), own.end());
  }
  std::ranges::sort(limits);
  const auto enough = [&](double limit) {
    double covered = 0.0;
    for (const std::vector<double>& own : voices) {
      covered += share_below(own, limit);
    }
    return covered >= kPairsCovered * static_cast<double>(voices.size());
  };
  return *std::ranges::partition_point(limits, [&](double limit) { return !enough(limit); });
}

// As a factor, outward_factor outwards to hundredths.
double outward_factor(double error) {
  constexpr double kParts = 100.0;
  return std::ceil(std::exp(error) * kParts) / kParts;
}

std::size_t pairs_left(const SourceErrors& errors, const std::string& left_out) {
  std::size_t count = 0;
  for (const auto& [source, own] : errors) {
    count += source == left_out ? 0 : own.size();
  }
  return count;
}

// Nothing where too few pairs or sources are left. Whoever is wider than all has to do with few.
std::optional<double> fitted_factor(const SourceErrors& errors, const std::string& left_out,
                                    bool widest) {
  const auto voices = difference_voices(errors, left_out);
  const std::size_t fewest = widest ? 1 : left_out.empty() ? kFewestVoices : kFewestVoices - 1;
  if (voices.size() < fewest || pairs_left(errors, left_out) < kFewestPairs) {
    return std::nullopt;
  }
  return outward_factor(covering_error(voices));
}

std::map<std::string, SourceErrors> errors_by_class(const std::vector<DifferencePair>& pairs,
                                                    double share) {
  std::map<std::string, SourceErrors> classes;
  for (const DifferencePair& pair : pairs) {
    for (const std::string& name : fed_classes(pair.changes)) {
      classes[name][pair.source].push_back(std::max(0.0, pair.error() - share * pair.size()));
    }
  }
  return classes;
}

// A wider class is never narrower than one in it.
void widen_class(const DifferenceSpread& narrow, DifferenceSpread& wide) {
  wide.factor = std::max(wide.factor, narrow.factor);
  std::set<std::string> sources;
  for (const auto& [source, factor] : narrow.without) {
    sources.insert(source);
  }
  for (const auto& [source, factor] : wide.without) {
    sources.insert(source);
  }
  for (const std::string& source : sources) {
    const auto inner = narrow.factor_without(source);
    const auto outer = wide.factor_without(source);
    if (outer) {
      wide.without[source] = std::max(*outer, inner.value_or(*outer));
    }
  }
}

// Narrow classes first.
std::vector<std::string> class_names() {
  std::vector<std::string> names;
  for (const auto& [change, word] : describe::kChangeWords) {
    for (const std::string& name : describe::difference_classes(std::vector<Change>{change})) {
      std::erase(names, name);
      names.push_back(name);
    }
  }
  return names;
}

void widen_all(std::vector<DifferenceSpread>& classes) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    places.emplace(classes[i].name, i);
  }
  for (const auto& [change, word] : describe::kChangeWords) {
    const DifferenceSpread* inner = nullptr;
    for (const std::string& name : describe::difference_classes(std::vector<Change>{change})) {
      const auto found = places.find(name);
      if (found == places.end()) {
        continue;
      }
      DifferenceSpread& outer = classes[found->second];
      if (inner != nullptr) {
        widen_class(*inner, outer);
      }
      inner = &outer;
    }
  }
}

std::vector<DifferenceSpread> fitted_classes(const std::map<std::string, SourceErrors>& errors,
                                             const std::string& origin) {
  std::vector<DifferenceSpread> classes;
  for (const std::string& name : class_names()) {
    const auto found = errors.find(name);
    const bool widest = name == "all";
    const auto factor =
        found == errors.end() ? std::nullopt : fitted_factor(found->second, "", widest);
    if (!factor) {
      continue;
    }
    DifferenceSpread& one = classes.emplace_back();
    one.name = name;
    one.factor = *factor;
    one.pairs = static_cast<std::int64_t>(pairs_left(found->second, ""));
    one.source = fmt::format(
        "fitted by calibration: holds 80 % of the pairs of a source, in the mean over {} sources "
        "of {}",
        found->second.size(), origin);
    for (const auto& [source, own] : found->second) {
      one.without.emplace(source, fitted_factor(found->second, source, widest));
    }
  }
  widen_all(classes);
  return classes;
}

// Which of the sizes of predicted changes: under 2, 5, 10, 20, 40 % and more.
std::size_t size_of_change(const DifferencePair& pair) {
  constexpr std::array<double, 5> kEnds{0.02, 0.05, 0.1, 0.2, 0.4};
  return static_cast<std::size_t>(std::ranges::upper_bound(kEnds, pair.size()) - kEnds.begin());
}

// How far sizes of changes are from being covered alike, in the mean over sources.
double unevenness(const std::vector<DifferencePair>& pairs, const DifferenceFile& file) {
  std::map<std::string, double> factors;
  for (const DifferenceSpread& one : file.classes) {
    factors.emplace(one.name, std::log(one.factor));
  }
  std::map<std::size_t, std::map<std::string, std::vector<double>>> held;
  for (const DifferencePair& pair : pairs) {
    for (const std::string& name : describe::difference_classes(pair.changes)) {
      if (const auto found = factors.find(name); found != factors.end()) {
        const double half = found->second + file.share * pair.size();
        held[size_of_change(pair)][pair.source].push_back(pair.error() <= half ? 1.0 : 0.0);
        break;
      }
    }
  }
  double uneven = 0.0;
  for (const auto& [size, sources] : held) {
    std::vector<double> shares;
    for (const auto& [source, own] : sources) {
      if (own.size() >= kFewestPairsOfSource) {
        shares.push_back(mean(own).value_or(kPairsCovered));
      }
    }
    uneven += std::pow(mean(shares).value_or(kPairsCovered) - kPairsCovered, 2);
  }
  return uneven;
}

// The classes under the share that covers small and large changes most alike.
DifferenceFile fitted_file(const std::vector<DifferencePair>& pairs, const std::string& origin) {
  constexpr int kShares = 10;
  constexpr double kGrid = 0.05;
  DifferenceFile best;
  double least = 0.0;
  for (int step = 0; step <= kShares; ++step) {
    DifferenceFile file;
    file.share = std::round(100.0 * kGrid * step) / 100.0;
    file.share_source = fmt::format(
        "fitted by calibration: covers small and large changes most alike, {} pairs of {}",
        pairs.size(), origin);
    file.classes = fitted_classes(errors_by_class(pairs, file.share), origin);
    const double uneven = unevenness(pairs, file);
    if (step == 0 || uneven < least) {
      least = uneven;
      best = std::move(file);
    }
  }
  return best;
}

// What kind of feature of either job the word is.
std::map<std::string, describe::FeatureKind> kinds_of(const DifferencePair& pair) {
  std::map<std::string, describe::FeatureKind> kinds;
  for (const describe::Job* job : {pair.one, pair.other}) {
    for (const auto& [kind, word] : describe::job_features(*job)) {
      kinds.emplace(word, kind);
    }
  }
  return kinds;
}

// How much wider the intervals of pairs need to be that have a feature no other source has, each
// feature counting the same: as a power of the class's factor.
void fit_outside(const std::vector<DifferencePair>& pairs, DifferenceFile& file) {
  const auto spreads = DifferenceSpreads::of(file);
  if (!spreads) {
    return;
  }
  std::map<describe::FeatureKind, SourceErrors> needed;  // by feature
  for (const DifferencePair& pair : pairs) {
    const auto width = spreads->width(*pair.one, *pair.other, pair.source);
    const double half = std::log(width.spread(pair.predicted)) / width.power;
    if (half <= 0.0 || width.outside.empty()) {
      continue;
    }
    const auto kinds = kinds_of(pair);
    for (const std::string& word : width.outside) {
      const describe::FeatureKind kind = kinds.at(word);
      needed[kind][word].push_back(pair.error() / half);
      ++file.outside[kind].pairs;
    }
  }
  for (auto& [kind, outside] : file.outside) {
    constexpr double kParts = 100.0;
    if (const auto voices = difference_voices(needed[kind], ""); !voices.empty()) {
      outside.power = std::max(1.0, std::ceil(covering_error(voices) * kParts) / kParts);
    }
  }
}

}  // namespace

double DifferencePair::error() const {
  return std::abs(std::log(measured / predicted));
}

double DifferencePair::size() const {
  return std::abs(std::log(predicted));
}

std::vector<DifferencePair> difference_pairs(const std::vector<RunSample>& samples,
                                             const std::vector<Seconds>& predicted) {
  std::map<std::string, std::vector<std::size_t>> jobs;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    jobs[pairing_key(samples[i])].push_back(i);
  }
  std::vector<DifferencePair> pairs;
  for (const auto& [name, runs] : jobs) {
    for (std::size_t a = 0; a < runs.size(); ++a) {
      for (std::size_t b = a + 1; b < runs.size(); ++b) {
        const RunSample& one = samples[runs[a]];
        const RunSample& other = samples[runs[b]];
        pairs.push_back(
            {one.origin, one.job.get(), other.job.get(),
             describe::changes_between(*one.job, *other.job),
             device_speed(*one.job, one.measured) / device_speed(*other.job, other.measured),
             device_speed(*one.job, predicted[runs[a]]) /
                 device_speed(*other.job, predicted[runs[b]])});
      }
    }
  }
  return pairs;
}

Result<DifferenceFile> fit_differences(const std::vector<DifferencePair>& pairs,
                                       const std::string& origin) {
  DifferenceFile file = fitted_file(pairs, origin);
  for (const DifferencePair& pair : pairs) {
    for (const describe::Job* job : {pair.one, pair.other}) {
      for (describe::JobFeature& feature : describe::job_features(*job)) {
        file.measured[pair.source].insert(std::move(feature.word));
      }
    }
  }
  fit_outside(pairs, file);
  SEXTANT_TRY(const DifferenceSpreads whole, DifferenceSpreads::of(file));
  return whole.file();
}

}  // namespace sextant::calibrate
