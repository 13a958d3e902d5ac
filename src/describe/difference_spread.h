// How far measured differences between two jobs lie from predicted ones
// (data/step_difference.toml), by what differs between them.
//
// Errors that both jobs share (the device's, the network's, the model's) cancel in the ratio of
// their steps; what is left depends on what differs. A class is a kind of change. Classes stand in
// one another, and a wider one is never narrower:
//
//   mesh, sharding, micro-batch, recompute, precision, kernels, overlap   in   one-change
//   one-change                                                            in   several-changes
//   devices, batch, sequence                                              in   scale
//   several-changes, scale                                                in   all
//
// Half an interval is, in logarithms, the class's `factor` and a share of the predicted ratio
// itself: large changes are known less well than small ones.
//
// One with too few measured pairs is not in the file; its pairs have the class around it. Where
// either job has a feature that no measured one had, that half is longer by the power of the kind
// of feature. Any source can be left out of both: what the file says then has not seen its rows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "describe/job_change.h"

namespace sextant::describe {

// Of small changes eight of ten measured ratios lie between the predicted one over and times
// `factor`.
struct DifferenceSpread {
  std::string name;
  double factor = 1.0;     // ≥ 1
  std::int64_t pairs = 0;  // that it was fitted on
  std::string source;
  // Without the pairs of a source; nothing where too few are left. Sources that are not here have
  // no pairs in it.
  std::map<std::string, std::optional<double>, std::less<>> without;

  // Nothing where too few pairs are left without the source.
  [[nodiscard]] std::optional<double> factor_without(std::string_view left_out) const;
};

// The classes of such changes, narrowest first; the last is "all". Nothing where nothing differs.
std::vector<std::string> difference_classes(std::span<const Change> changes);

// The interval of one difference.
struct DifferenceWidth {
  std::string name;                  // of the class; "" where nothing differs
  double factor = 1.0;               // of the class
  double share = 0.0;                // of the predicted ratio
  double power = 1.0;                // outside what was measured
  std::vector<std::string> outside;  // features of either job that were not measured
  // ≥ 1: the interval is from ratio / spread to ratio · spread. The same for 1 / ratio.
  [[nodiscard]] double spread(double ratio) const;
};

// How much wider intervals are outside what was measured.
struct OutsidePower {
  double power = 1.0;      // ≥ 1
  std::int64_t pairs = 0;  // that it was fitted on
};

struct DifferenceFile {
  std::vector<DifferenceSpread> classes;
  double share = 0.0;  // of a predicted ratio, 0 to 1
  std::string share_source;
  std::map<FeatureKind, OutsidePower> outside;            // kinds that are not here: 1
  std::map<std::string, std::set<std::string>> measured;  // features by source
};

class DifferenceSpreads {
 public:
  // An Error where the class "all" is not among them, or speaks of no pair without some source.
  static Result<DifferenceSpreads> of(DifferenceFile file);

  // `left_out`: a source (measured::origin_of) whose rows must not count; "": none.
  [[nodiscard]] DifferenceWidth width(const Job& one, const Job& other,
                                      std::string_view left_out = {}) const;
  // Of jobs whose difference no Change names: a machine with other numbers.
  [[nodiscard]] DifferenceWidth widest(std::string_view left_out = {}) const;
  [[nodiscard]] const DifferenceFile& file() const { return file_; }

 private:
  DifferenceSpreads() = default;
  [[nodiscard]] bool was_measured(const std::string& word, std::string_view left_out) const;
  [[nodiscard]] std::pair<std::string, double> class_of(std::span<const Change> changes,
                                                        std::string_view left_out) const;

  DifferenceFile file_;
  std::map<std::string, std::size_t, std::less<>> places_;  // by name, in file_.classes
};

Result<DifferenceSpreads> difference_spreads(const DataStore& data);
// The same of a text; `where` names it in errors.
Result<DifferenceSpreads> parse_difference_spreads(std::string_view text, std::string_view where);

// The file of such classes, as difference_spreads reads it.
std::string difference_spread_text(const DifferenceFile& file);

}  // namespace sextant::describe
