// Runs recorded on a GPU (tests/data/recorded, made by scripts/measure/fault_traces.py and
// fault_traces_xla.py), each with one fault, and the same without it: what diagnosis says of them,
// and what mending the fault saved where both were timed without a profiler.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "diagnose/diagnosis.h"

namespace sextant::tests {

// What the saving is taken from.
enum class SavedBy : std::uint8_t {
  kTimed,     // steps.csv: medians of 20 steps without a profiler
  kProfiles,  // the two profiles: the fault is the profiler's, or ranks were only run with it
  kNothing,   // no run without the fault was made
};

struct RecordedPair {
  std::string_view name;   // of its files
  std::string_view rule;   // that should come first: what the script did, said before it was asked
  std::string_view fault;  // in words
  std::string_view mend;
  SavedBy saved_by = SavedBy::kTimed;
  std::string_view remark = {};
  std::string_view also = {};  // the rule that speaks of the fault's other half, if it has two
};
const std::vector<RecordedPair>& recorded_pairs();

// A finding in a run without a fault, confirmed by a measured mend.
struct Confirmation {
  std::string_view rule;
  std::string_view timed;  // the pair of steps.csv; empty: `words` say what was measured
  std::string_view words = {};
};
// Runs without a fault: those above, mended, and plain ones.
struct RecordedPlain {
  std::string_view name;
  // Of rules that find more than 3 % of its step.
  std::vector<Confirmation> confirmed;
  [[nodiscard]] const Confirmation* confirmation_of(std::string_view rule) const;
};
const std::vector<RecordedPlain>& recorded_plain();

// Of one step without a profiler.
struct TimedStep {
  Seconds median;
  Seconds least;
};
// `which`: "fault" or "fixed". Of the runs of eight ranks as their profiled steps were timed.
std::optional<TimedStep> timed_step(std::string_view name, std::string_view which);

struct DiagnosedPair {
  const RecordedPair* pair = nullptr;
  diagnose::Diagnosis with;
  std::optional<Seconds> saved;
  bool took_effect = true;  // its least step with the fault is longer than the median without

  [[nodiscard]] const diagnose::Finding* first() const;  // that nothing explains
  [[nodiscard]] bool is_right() const;
  // What mending the fault can gain at most; nothing where no finding speaks of it.
  [[nodiscard]] std::optional<Seconds> claimed() const;
  // saved ≤ claimed ≤ 2 × saved
  [[nodiscard]] bool is_kept() const;
};
DiagnosedPair diagnosed_pair(const RecordedPair& pair);

// Of all its ranks' files.
diagnose::Diagnosis diagnosis_of_recorded(std::string_view name, std::string_view which);

}  // namespace sextant::tests
