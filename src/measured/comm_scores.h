// How far predictions of collectives and of expert all-to-alls are from measurements: by size, by
// class of system, and averaged so that a system with thousands of rows counts no more than one
// with ten.
//
// Scored are rows of healthy systems, of trust A or B, that are predicted and were measured as more
// than zero. An error is the row's own, in its own quantity, as measured/validate.h defines it
// (most are times; a few tables give bandwidths only).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measured/comm_groups.h"
#include "measured/row.h"
#include "measured/validate.h"

namespace sextant::measured {

// Figures are of what is scored; what is refused is counted beside it, because a predictor that
// refuses all that is hard has small errors.
struct ErrorScore {
  std::int64_t rows = 0;
  std::int64_t systems = 0;
  std::int64_t refused_rows = 0;
  std::int64_t refused_systems = 0;  // those without a single scored row
  std::optional<double> mean;        // of |error| over rows
  std::optional<double> macro;  // mean over systems of the mean of |error| over a system's rows
  // Mean error over rows, above zero where predictions take too long: errors of bandwidths count
  // with the other sign.
  std::optional<double> bias;
};

struct NamedScore {
  std::string name;
  ErrorScore score;
};

struct SizedScore {
  std::string name;
  ErrorScore all;
  std::array<ErrorScore, kSizeBuckets> by_size;  // in the order of SizeBucket
};

// rows = unhealthy + refused + untrusted + scored.
struct CommCounts {
  std::int64_t rows = 0;
  std::int64_t unhealthy = 0;  // of degraded or noisy systems, whatever else holds
  std::int64_t refused = 0;
  std::int64_t untrusted = 0;  // of trust C, or measured as zero
  std::int64_t scored = 0;
  std::vector<std::pair<std::string, std::int64_t>> reasons;  // of refusals: the 8 most frequent
};

// Lists hold what has scored or refused rows, in the order of their enums.
struct CollectiveScores {
  CommCounts counts;
  SizedScore total;
  std::vector<SizedScore> classes;
  std::vector<SizedScore> operations;
  std::vector<NamedScore> systems;  // largest error first, then by name; refused ones last
};

struct ExpertScores {
  CommCounts counts;
  ErrorScore total;
  std::vector<NamedScore> libraries;  // by name
  std::vector<NamedScore> modes;      // by name
  std::vector<NamedScore> nodes;      // "1 node", "2 nodes", …: by number
  std::vector<NamedScore> systems;    // as above
};

struct CommScores {
  std::optional<CollectiveScores> collectives;  // nothing where no row is of such a table
  std::optional<ExpertScores> experts;

  [[nodiscard]] bool empty() const { return !collectives && !experts; }
};

// REQUIRES: `report` is validate's of `rows`.
CommScores comm_scores(const std::vector<Row>& rows, const ValidationReport& report);

}  // namespace sextant::measured
