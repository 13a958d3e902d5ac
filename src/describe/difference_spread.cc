#include "describe/difference_spread.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "describe/toml_table.h"

namespace sextant::describe {
namespace {

constexpr std::string_view kDifferenceFile = "step_difference.toml";
constexpr std::string_view kWidest = "all";
constexpr std::string_view kOneChange = "one-change";
constexpr std::string_view kSeveralChanges = "several-changes";
constexpr std::string_view kScale = "scale";
constexpr std::string_view kMeasured = "measured";
constexpr std::string_view kOutside = "outside";
constexpr std::string_view kShare = "share";
constexpr std::string_view kTooFew = "too few";
constexpr std::int64_t kMostPairs = 1'000'000'000;
constexpr double kMostFactor = 1000.0;
constexpr double kMostPower = 10.0;
constexpr double kMostShare = 0.5;  // a larger change stays a surer one

constexpr std::string_view kDifferenceHead =
    "# How far measured differences between two jobs lie from predicted ones, by what differs: "
    "eight of ten measured\n# ratios lie between the predicted one over and times the class's "
    "`factor` and the ratio to the power `share`.\n# `without`: the same without the pairs of a "
    "source. `outside`: the power to which both are raised where either\n# job has a feature of "
    "the "
    "kind that is not under `measured`. Classes: src/describe/difference_spread.h.\n# Written by "
    "`sextant calibrate RUNS --write data`.\n";

bool is_scale(Change change) {
  return change == Change::kDevices || change == Change::kBatch || change == Change::kSequence;
}

std::string_view word_of_change(Change change) {
  return word_of<Change>(kChangeWords, change);
}

Result<double> factor_of(std::string_view text, const std::string& where) {
  SEXTANT_TRY(const double factor, parse_ratio(text, where));
  if (factor < 1.0 || factor > kMostFactor) {
    return invalid(fmt::format("the factor is {}", factor), where, "1 ratio to 1000 ratio");
  }
  return factor;
}

Result<Sourced<double>> sourced_factor(const TomlTable& table) {
  SEXTANT_TRY(Sourced<double> factor, table.sourced("factor", parse_ratio));
  if (factor.value < 1.0 || factor.value > kMostFactor) {
    return invalid(fmt::format("the factor is {}", factor.value), table.where("factor"),
                   "1 ratio to 1000 ratio");
  }
  return factor;
}

Result<DifferenceSpread> read_difference(const TomlTable& table, const std::string& name) {
  constexpr std::array<std::string_view, 3> kKeys{"factor", "pairs", "without"};
  SEXTANT_CHECK_OK(table.only(kKeys));
  DifferenceSpread spread;
  spread.name = name;
  SEXTANT_TRY(const Sourced<double> factor, sourced_factor(table));
  spread.factor = factor.value;
  spread.source = factor.source;
  SEXTANT_TRY(spread.pairs, table.integer("pairs", 0, kMostPairs));
  if (!table.has("without")) {
    return spread;
  }
  SEXTANT_TRY(const TomlTable without, table.table("without"));
  for (const std::string& source : without.keys()) {
    SEXTANT_TRY(const std::string text, without.text(source));
    if (text == kTooFew) {
      spread.without.emplace(source, std::nullopt);
      continue;
    }
    SEXTANT_TRY(const double left, factor_of(text, without.where(source)));
    spread.without.emplace(source, left);
  }
  return spread;
}

Result<void> read_outside(const TomlTable& table, DifferenceFile& file) {
  for (const std::string& name : table.keys()) {
    constexpr std::array<std::string_view, 2> kKeys{"power", "pairs"};
    SEXTANT_TRY(const FeatureKind kind,
                parse_word<FeatureKind>(kFeatureKindWords, name, "feature", table.where(name)));
    SEXTANT_TRY(const TomlTable one, table.table(name));
    SEXTANT_CHECK_OK(one.only(kKeys));
    SEXTANT_TRY(const Sourced<double> power, one.sourced("power", parse_ratio));
    if (power.value < 1.0 || power.value > kMostPower) {
      return invalid(fmt::format("the power is {}", power.value), one.where("power"),
                     "1 ratio to 10 ratio");
    }
    OutsidePower& outside = file.outside[kind];
    outside.power = power.value;
    SEXTANT_TRY(outside.pairs, one.integer("pairs", 0, kMostPairs));
  }
  return {};
}

Result<void> read_share(const TomlTable& table, DifferenceFile& file) {
  constexpr std::array<std::string_view, 1> kKeys{"of_ratio"};
  SEXTANT_CHECK_OK(table.only(kKeys));
  SEXTANT_TRY(const Sourced<double> share, table.sourced("of_ratio", parse_ratio));
  if (share.value < 0.0 || share.value > kMostShare) {
    return invalid(fmt::format("the share is {}", share.value), table.where("of_ratio"),
                   "0 ratio to 0.5 ratio");
  }
  file.share = share.value;
  file.share_source = share.source;
  return {};
}

Result<void> read_measured(const TomlTable& table, DifferenceFile& file) {
  for (const std::string& source : table.keys()) {
    SEXTANT_TRY(std::vector<std::string> features, table.texts(source));
    file.measured.emplace(source, std::set<std::string>(features.begin(), features.end()));
  }
  return {};
}

// The class around a class; nothing around the widest.
std::string_view around(std::string_view name) {
  if (name == kOneChange) {
    return kSeveralChanges;
  }
  if (name == kSeveralChanges || name == kScale) {
    return kWidest;
  }
  for (const auto& [change, word] : kChangeWords) {
    if (name == word && change != Change::kJob) {
      return is_scale(change) ? kScale : kOneChange;
    }
  }
  return {};
}

std::string ratio_text(double factor) {
  return fmt::format("{} ratio", factor);
}

}  // namespace

double DifferenceWidth::spread(double ratio) const {
  return std::exp(power * (std::log(factor) + share * std::abs(std::log(ratio))));
}

std::optional<double> DifferenceSpread::factor_without(std::string_view left_out) const {
  const auto found = without.find(left_out);
  return found == without.end() ? std::optional(factor) : found->second;
}

std::vector<std::string> difference_classes(std::span<const Change> changes) {
  if (changes.empty()) {
    return {};
  }
  const auto scales = std::ranges::count_if(changes, is_scale);
  const auto count = std::ssize(changes);
  std::string_view name = kWidest;
  if (std::ranges::find(changes, Change::kJob) == changes.end()) {
    if (count == 1) {
      name = word_of_change(changes.front());
    } else if (scales == 0) {
      name = kSeveralChanges;
    } else if (scales == count) {
      name = kScale;
    }
  }
  std::vector<std::string> classes;
  for (; !name.empty(); name = around(name)) {
    classes.emplace_back(name);
  }
  return classes;
}

Result<DifferenceSpreads> DifferenceSpreads::of(DifferenceFile file) {
  const std::string where(kDifferenceFile);
  std::ranges::sort(file.classes, {}, &DifferenceSpread::name);
  DifferenceSpreads spreads;
  for (std::size_t i = 0; i < file.classes.size(); ++i) {
    spreads.places_.emplace(file.classes[i].name, i);
  }
  const auto all = spreads.places_.find(kWidest);
  if (all == spreads.places_.end()) {
    return invalid("no class that every difference belongs to", where, "a class [all]");
  }
  for (const auto& [source, factor] : file.classes[all->second].without) {
    if (!factor) {
      return invalid(fmt::format("no pair of [all] is left without {}", source), where);
    }
  }
  for (const DifferenceSpread& narrow : file.classes) {
    if (narrow.name != kWidest && around(narrow.name).empty()) {
      return invalid(fmt::format("[{}] is not a class", narrow.name), where);
    }
    for (std::string_view wide = around(narrow.name); !wide.empty(); wide = around(wide)) {
      const auto found = spreads.places_.find(wide);
      if (found != spreads.places_.end() && file.classes[found->second].factor < narrow.factor) {
        return invalid(fmt::format("[{}] is narrower than [{}] in it", wide, narrow.name), where);
      }
    }
  }
  spreads.file_ = std::move(file);
  return spreads;
}

bool DifferenceSpreads::was_measured(const std::string& word, std::string_view left_out) const {
  return std::ranges::any_of(file_.measured, [&](const auto& one) {
    return one.first != left_out && one.second.contains(word);
  });
}

std::pair<std::string, double> DifferenceSpreads::class_of(std::span<const Change> changes,
                                                           std::string_view left_out) const {
  for (const std::string& name : difference_classes(changes)) {
    const auto found = places_.find(name);
    if (found == places_.end()) {
      continue;
    }
    if (const auto factor = file_.classes[found->second].factor_without(left_out)) {
      return {name, *factor};
    }
  }
  return {"", 1.0};
}

DifferenceWidth DifferenceSpreads::width(const Job& one, const Job& other,
                                         std::string_view left_out) const {
  const std::vector<Change> changes = changes_between(one, other);
  if (changes.empty()) {
    return {};
  }
  const auto [name, factor] = class_of(changes, left_out);
  DifferenceWidth width{name, factor, file_.share, 1.0, {}};
  std::set<JobFeature> features;
  for (const Job* job : {&one, &other}) {
    for (JobFeature& feature : job_features(*job)) {
      features.insert(std::move(feature));
    }
  }
  double power = 1.0;
  for (const auto& [kind, word] : features) {
    if (was_measured(word, left_out)) {
      continue;
    }
    width.outside.push_back(word);
    const auto found = file_.outside.find(kind);
    power = std::max(power, found == file_.outside.end() ? 1.0 : found->second.power);
  }
  width.power = power;
  return width;
}

DifferenceWidth DifferenceSpreads::widest(std::string_view left_out) const {
  const std::vector<Change> any{Change::kJob};
  const auto [name, factor] = class_of(any, left_out);
  return {name, factor, file_.share, 1.0, {}};
}

Result<DifferenceSpreads> parse_difference_spreads(std::string_view text, std::string_view where) {
  SEXTANT_TRY(const TomlTable whole, TomlTable::parse(text, where));
  DifferenceFile file;
  for (const std::string& name : whole.keys()) {
    SEXTANT_TRY(const TomlTable table, whole.table(name));
    if (name == kMeasured) {
      SEXTANT_CHECK_OK(read_measured(table, file));
    } else if (name == kShare) {
      SEXTANT_CHECK_OK(read_share(table, file));
    } else if (name == kOutside) {
      SEXTANT_CHECK_OK(read_outside(table, file));
    } else {
      SEXTANT_TRY(file.classes.emplace_back(), read_difference(table, name));
    }
  }
  return DifferenceSpreads::of(std::move(file));
}

Result<DifferenceSpreads> difference_spreads(const DataStore& data) {
  SEXTANT_TRY(const std::string text, data.read(kDifferenceFile));
  return parse_difference_spreads(text, data.where(kDifferenceFile));
}

std::string difference_spread_text(const DifferenceFile& file) {
  std::string text(kDifferenceHead);
  for (const DifferenceSpread& one : file.classes) {
    text += fmt::format(
        "\n[{}]\npairs = {}\nfactor = {{ value = \"{}\", kind = \"fitted\", source = \"{}\" }}\n",
        one.name, one.pairs, ratio_text(one.factor), one.source);
    if (!one.without.empty()) {
      text += fmt::format("[{}.without]\n", one.name);
    }
    for (const auto& [source, factor] : one.without) {
      text +=
          fmt::format("{} = \"{}\"\n", source, factor ? ratio_text(*factor) : std::string(kTooFew));
    }
  }
  text +=
      fmt::format("\n[{}]\nof_ratio = {{ value = \"{}\", kind = \"fitted\", source = \"{}\" }}\n",
                  kShare, ratio_text(file.share), file.share_source);
  for (const auto& [kind, one] : file.outside) {
    text += fmt::format(
        "\n[{}.{}]\npairs = {}\npower = {{ value = \"{}\", kind = \"fitted\", source = \"sextant "
        "calibrate: pairs of sources left out that have a feature no other source has\" }}\n",
        kOutside, word_of<FeatureKind>(kFeatureKindWords, kind), one.pairs, ratio_text(one.power));
  }
  text += fmt::format("\n[{}]\n", kMeasured);
  for (const auto& [source, features] : file.measured) {
    text += fmt::format("{} = [\n", source);
    for (const std::string& feature : features) {
      text += fmt::format("  \"{}\",\n", feature);
    }
    text += "]\n";
  }
  return text;
}

}  // namespace sextant::describe
