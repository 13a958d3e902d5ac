// What is slow in a recorded run, whose doing it is, why, and what it is worth.
//
// A finding is one rule's answer (rule_book.h says what each rule means and what to do about it).
// What it costs is time of a mean step, and what mending it can gain is a ceiling: some of what one
// cause leaves free, another takes. Findings may speak of the same moments; their seconds are never
// added without asking `total_ceiling`, which counts each moment of a step once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "metrics/intervals.h"

namespace sextant::diagnose {

// How sure it is.
enum class Status : std::uint8_t {
  kVerified,    // the profile shows cause and cost
  kInferred,    // the profile shows the cost; the cause follows from what else it shows
  kUnverified,  // plausible: what would show it was not recorded
};
std::string_view name_of(Status status);

// What holds a run up, in one word.
enum class Bottleneck : std::uint8_t { kCompute, kMemory, kCommunication, kStall };
std::string_view name_of(Bottleneck bottleneck);  // "compute", "hbm", "communication", "stall"

// Parts of a step that add up to it (metrics/breakdown.h): whose moments a finding speaks of.
enum class StepPart : std::uint8_t { kCompute, kExposedCommunication, kExposedCopy, kIdle };
inline constexpr std::size_t kStepParts = 4;
using PartTimes = std::array<Seconds, kStepParts>;  // of a mean step

// Where to look. On the clock of that rank's recorder, as in its profile.
struct Evidence {
  RankId rank;
  metrics::Interval time;
  std::string what;  // "aten::item", "rank 3 arrives 12 ms after rank 0"
  bool operator==(const Evidence&) const = default;
};
inline constexpr std::size_t kMostEvidence = 8;  // of a finding

struct Finding {
  std::string rule;                // of the rule book: "input-bound"
  std::string cause;               // one sentence with this run's figures
  std::vector<RankId> ranks = {};  // whose doing it is, in order; empty: all alike
  Seconds per_step = {};           // a mean step is longer by at most that
  PartTimes parts{};               // the same by part of the step; adds up to per_step
  Status status = Status::kInferred;
  std::vector<Evidence> evidence = {};  // at most kMostEvidence
  // What of the rule's advice holds for this run, in order of gain; empty: all of it, in its order.
  std::vector<std::string> advice = {};
  // Reported, but nothing to mend: below what a step varies by, or explained by another finding.
  std::optional<std::string> explained_by = std::nullopt;  // that finding's rule
};

// A rule that could not be asked, and how to record what it asks for.
struct Abstention {
  std::string rule;
  std::string missing;  // "stacks", "shapes": what the profile does not hold
};

// How much faster a step of `step` could be without `lost`: T / (T − R) − 1. REQUIRES: lost < step.
double gain_ceiling(Seconds lost, Seconds step);

// What all of them together can free of a step at most: in each part no more than the part is long,
// and of findings that speak of one part no more than their sum. One that blames a single rank may
// be worth more than a mean rank's part: no less than it alone, no more than the step. Explained
// ones count nothing.
Seconds total_ceiling(std::span<const Finding> findings, const PartTimes& step);

}  // namespace sextant::diagnose
