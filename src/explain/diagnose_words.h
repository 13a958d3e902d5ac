// Words and shares that the table and the JSON of a diagnosis have in common.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "explain/diagnose_view.h"

namespace sextant::explain {

inline Seconds seconds_of(std::int64_t time_ns) {
  return static_cast<double>(time_ns) * 1_ns;
}
// Nothing of nothing.
inline std::optional<double> ns_share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? std::optional(static_cast<double>(part) / static_cast<double>(whole))
                   : std::nullopt;
}

// A part of a whole in nanoseconds: its key in JSON and its word for people.
struct TimePart {
  std::string_view key;  // "host_late_s"
  std::string_view word;
  std::int64_t time_ns = 0;
};
// These add up to the step, to the idle time, to the step.
std::array<TimePart, 4> step_parts(const metrics::Breakdown& time);
std::array<TimePart, 6> idle_parts(const metrics::IdleCauses& idle);
std::vector<TimePart> path_parts(const std::array<std::int64_t, metrics::kBounds>& path_ns);
std::vector<TimePart> category_parts(const metrics::CategoryTimes& times);

// Mean of the kept steps: what is added up, over how many there are.
Seconds mean_step(const metrics::RankTotals& totals);
Seconds mean_of(std::int64_t sum_ns, const metrics::RankTotals& totals);

std::string_view recorder_word(std::optional<timeline::Recorder> recorder);  // "kineto"
std::string_view recorder_name(std::optional<timeline::Recorder> recorder);  // "PyTorch profiler"
std::string_view basis_word(metrics::StepBasis basis);                       // "markers"

// "0-3,5": ranks or steps, shortened.
std::string number_list(const std::vector<std::int64_t>& numbers);
std::vector<std::int64_t> rank_numbers(const DiagnoseAnswer& answer);
std::vector<std::int64_t> kept_numbers(const metrics::RankSummary& rank);

// "all_reduce", the source's own word, or "unknown".
std::string collective_word(const metrics::CollectiveRow& row);
// A kernel's name without its arguments and what is the same in all: at most so many characters.
std::string short_kernel_name(std::string_view name, std::size_t width);

// All that the job has is here: nothing where the files do not say how many there are.
std::optional<bool> is_whole_job(const DiagnoseAnswer& answer);

}  // namespace sextant::explain
