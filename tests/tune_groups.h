// Measured layouts of one job each, by the source that published them: what the reasoner chooses
// among, and what is known of its choice.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "search/task.h"

namespace sextant::tests {

// A layout of the job and how long its step was measured to take.
struct MeasuredLayout {
  describe::Layout layout;
  std::string words;  // as it is typed
  Seconds step;       // measured more than once: the geometric mean
};

struct TuneGroup {
  std::string source;                   // the paper or repository (measured::origin_of)
  std::string name;                     // model, devices, batch, release
  search::Task task;                    // the job, with the layout of one of them
  std::vector<MeasuredLayout> layouts;  // that differ, the fastest first
};

// Groups of at least `fewest` layouts of one job, of the named tables: rows of one source that
// differ in nothing but layout and its formats, on one release of the software, of trust A and B,
// that the predictor can be asked about and that a layout says whole (nothing beyond it).
Result<std::vector<TuneGroup>> tune_groups(const std::vector<std::string>& tables,
                                           std::size_t fewest);

// One layout of a group as the job stands, the others to choose among.
struct TuneStart {
  const TuneGroup* group = nullptr;
  std::size_t start = 0;  // its place in group->layouts: 0 is the fastest
};
// At most so many of a source, evenly spaced over its groups in the order of their names. Those
// that start at the fastest layout only where `with_fastest`.
std::vector<TuneStart> tune_starts(const std::vector<TuneGroup>& groups, bool with_fastest,
                                   std::size_t most);

// What the reasoner makes of it.
struct TuneOutcome {
  TuneStart from;
  std::vector<std::size_t> proposed;  // places, the first proposal first
  std::string kind;                   // agents::confidence_kind of the first; "": of none
  bool stands = false;                // the first was accepted
  [[nodiscard]] bool is_first_faster() const {
    return !proposed.empty() && proposed.front() < from.start;
  }
  [[nodiscard]] bool has_fastest() const;
};
// With the source's rows left out of the intervals.
TuneOutcome tune_outcome(const TuneStart& from);

// What others would choose among the same layouts.
struct OtherChoices {
  double random_faster = 0.0;   // a layout by chance that is not the start: is it faster?
  double random_fastest = 0.0;  // is the fastest among three by chance?
};
OtherChoices other_choices(const TuneStart& from);
// The layout of the group nearest to what the Megatron papers' habits pick for the job, by the
// logarithms of its sizes; nothing where they pick none.
std::optional<std::size_t> rules_choice(const TuneGroup& group);

}  // namespace sextant::tests
