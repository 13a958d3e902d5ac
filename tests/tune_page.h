// The page on what the reasoner's choices are worth, and the data file of its confidence: what was
// measured, in words.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tune_groups.h"

namespace sextant::tests {

// Choices of a source, or of all.
struct TuneScore {
  std::int64_t starts = 0;
  std::int64_t faster = 0;   // the first proposal is measured faster than the start
  std::int64_t fastest = 0;  // the measured best is among the three
  std::int64_t decided = 0;  // the first was accepted: the gain is beyond the interval
  std::int64_t decided_faster = 0;
  double random_faster = 0.0;  // sums of shares
  double random_fastest = 0.0;
  std::int64_t rule_faster = 0;
  std::int64_t rule_fastest = 0;
  void add(const TuneOutcome& outcome, const std::optional<std::size_t>& rule);
};

// First proposals of one kind.
struct KindScore {
  std::int64_t proposed = 0;
  std::int64_t faster = 0;
  // Laplace's: (faster + 1) / (proposed + 2).
  [[nodiscard]] double share() const {
    return (static_cast<double>(faster) + 1.0) / (static_cast<double>(proposed) + 2.0);
  }
};
using KindScores = std::map<std::string, KindScore>;    // by kind
using SourceKinds = std::map<std::string, KindScores>;  // by source
KindScores summed_kinds(const SourceKinds& sources, const std::string& left_out = {});

// Recorded runs with one fault each, of which nothing but the profile is known.
struct RunScore {
  std::int64_t runs = 0;
  std::int64_t first = 0;  // the first proposal mends the fault, and is accepted
  std::int64_t among = 0;  // one of the three
};

struct TunePage {
  std::map<std::string, TuneScore> sources;
  TuneScore all;
  TuneScore large;  // of groups of five layouts and more
  SourceKinds kinds;
  std::int64_t groups = 0;
  std::vector<std::string> parts = {};  // rows of the table of what each part adds
  RunScore runs;
};
std::string tune_page(const TunePage& page);
// data/agents/confidence.toml.
std::string confidence_text(const SourceKinds& kinds);

}  // namespace sextant::tests
