// How well published single changes are foretold: direction, verdict and size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measured/row.h"
#include "measured/validate.h"

namespace sextant::measured {

// Effects this small are within what measuring twice gives; a verdict is asked of larger ones.
inline constexpr double kTellingEffect = 0.02;
inline constexpr double kLargeEffect = 0.05;

// -1: the interval of a ratio lies below 1, +1: above, 0: it holds 1.
int sign_told(const std::pair<double, double>& interval);

struct ChangeRow {
  std::string id;
  std::string source;  // paper or repository
  std::string kind;
  Trust trust = Trust::kB;
  double effect = 0.0;              // measured change of speed: 0.1 is ten per cent faster
  std::optional<double> predicted;  // nothing: refused
  std::optional<std::pair<double, double>> interval;  // of the change
  std::string reason;                                 // why refused
  [[nodiscard]] int told() const;
};

// Of the scored rows of a group. Counts are of …
struct ChangeScore {
  std::string name;
  std::int64_t rows = 0;             // all
  std::int64_t expressed = 0;        // scored
  std::int64_t telling = 0;          // effects of 2 % and more
  std::int64_t direction = 0;        // of those, with the right sign
  std::int64_t told = 0;             // of those, with a verdict
  std::int64_t agreed = 0;           // of those, that agree
  std::int64_t large = 0;            // effects of 5 % and more
  std::int64_t large_told = 0;       // of those, with a verdict
  std::int64_t inside = 0;           // measured effects in the interval
  std::optional<double> difference;  // median |predicted − measured|, a share
  std::optional<double> half_width;  // median of intervals
};

struct ChangeScores {
  ChangeScore all;                   // of speed
  std::vector<ChangeScore> kinds;    // by kind of change
  std::vector<ChangeScore> sources;  // by source
  std::vector<ChangeRow> rows;       // in table order, memory's left out
  [[nodiscard]] bool empty() const { return rows.empty(); }
};

// REQUIRES: `report` is validate's of `rows`.
ChangeScores change_scores(const std::vector<Row>& rows, const ValidationReport& report);

}  // namespace sextant::measured
