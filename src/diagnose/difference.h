// Two runs, or two ranks, side by side: what takes longer in the second, what shorter, what is new,
// what is gone, and what of that makes up the difference of their steps. Times are of a mean step.
//
// A step is the sum of its kernels' times and its idle time by cause, less what ran at once; so the
// changes of these add up to the change of the step, exactly. The same holds of the host's ranges
// with the work and the idle time that are their own. Where kernels of the two go by different
// names (other devices, other libraries), operators stand for them, those of one run alone put
// together by kind of work; and where operators do too, kinds of work.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "diagnose/diagnosis.h"
#include "diagnose/gate.h"
#include "metrics/kpis.h"
#include "metrics/summary.h"

namespace sextant::diagnose {

// What is compared of a run; all of it stays as it is meanwhile.
struct ComparedRun {
  metrics::RankTotals totals;  // of all ranks and their kept steps
  bool has_device = true;
  std::span<const metrics::KernelRow> kernels;  // of all ranks together, as are the following
  std::span<const metrics::OperatorRow> operators;
  std::span<const metrics::CollectiveRow> collectives;
  std::span<const metrics::RangeRow> ranges;
  std::span<const metrics::SignalRow> signals;
  const Diagnosis* diagnosis = nullptr;  // null: there is none
};

struct Change {
  std::string name;
  std::string detail = {};  // of a kernel its kind, of a collective group and size; else empty
  // Nothing: not in that run.
  std::optional<Seconds> a = std::nullopt;
  std::optional<Seconds> b = std::nullopt;
  double count_a = 0.0;  // a step; 0: not counted
  double count_b = 0.0;
  [[nodiscard]] Seconds change() const { return b.value_or(0_s) - a.value_or(0_s); }
};

// Changes that add up to the change of the step; most first, whichever way.
struct Makeup {
  std::string_view of;  // "kernels", "operators", "kinds of work", "ranges", "parts"
  std::vector<Change> changes;
  // The first so many come within a tenth of all the change, as do they with any more of them.
  std::size_t needed = 0;
  // Of the change of the step; nothing where it did not change.
  [[nodiscard]] std::optional<double> share_of_first(std::size_t count) const;
};
inline constexpr double kMadeUp = 0.9;  // what `needed` come to at least

struct FindingChange {
  std::string rule;
  std::optional<Seconds> a = std::nullopt;  // its largest finding's; nothing: not found
  std::optional<Seconds> b = std::nullopt;
};

struct Difference {
  Seconds step_a;
  Seconds step_b;
  std::vector<Change> parts;  // of the step; they add up to it, in their order
  std::vector<Change> idle;   // by cause; they add up to the idle part
  Makeup makeup;              // of kernels, operators or kinds of work, with idle time by cause
  Makeup ranges;              // of the host's ranges; empty where none is recorded
  // Most change first.
  std::vector<Change> kinds;
  std::vector<Change> kernels;
  std::vector<Change> operators;
  std::vector<Change> collectives;
  // What the host was at while the device idled, or only copied for it. Their sum is that of the
  // idle part and more: copies.
  std::vector<Change> signals;
  std::vector<FindingChange> findings;  // explained ones left out; most change first
};

// REQUIRES: each has at least one kept step.
Difference difference_of(const ComparedRun& a, const ComparedRun& b);

// What of the gate the second run meets that the first does not; a sentence each.
std::vector<std::string> met(const Gate& gate, const Difference& difference);

}  // namespace sextant::diagnose
