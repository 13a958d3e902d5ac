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

// What the reasoner proposes where a part of it is left out.
struct PartsScore {
  std::string name;
  std::int64_t jobs = 0;
  std::int64_t accepted = 0;  // with a first proposal whose gain is beyond the interval
  std::int64_t proposals = 0;
  std::int64_t cited = 0;          // that rest on an entry that stands
  std::vector<double> gains = {};  // of the first proposals, predicted
};

// A recorded run with one fault, of which nothing but the profile is known.
struct RunScore {
  std::string fault;
  std::string mended_by;      // the rule of the diagnosis whose advice mends it
  std::string proposed = {};  // what the first proposal mends; "": there is none
  bool is_among = false;      // a proposal mends it, and is accepted
  std::string why_not = {};   // why it cannot be, where that is known of the recording
  [[nodiscard]] bool is_first() const { return is_among && proposed == mended_by; }
};

// The page in sections, each written by a test of its own: its heading and what stands below it.
struct PageSection {
  std::string heading;  // "## Confidence"; "": what stands above the first
  std::string text;     // begins with its heading
};
PageSection page_head();
PageSection among_section(const std::map<std::string, TuneScore>& sources, const TuneScore& all,
                          const TuneScore& large, std::int64_t groups);
PageSection confidence_section(const SourceKinds& kinds);
PageSection parts_section(const std::vector<PartsScore>& parts);
PageSection runs_section(const std::vector<RunScore>& runs);
// The section of a page as it stands; "": it has none.
std::string section_of(const std::string& page, const std::string& heading);
// The page with this section in the place of its own, or at the end.
std::string with_section(const std::string& page, const PageSection& section);

// data/agents/confidence.toml.
std::string confidence_text(const SourceKinds& kinds);

}  // namespace sextant::tests
