// Two runs side by side: what a step takes longer for, and how much of the change that is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/difference.h"
#include "explain/diagnose_view.h"
#include "explain/provenance.h"
#include "explain/style.h"
#include "explain/text_table.h"

namespace sextant::explain {

struct DiffAnswer {
  Provenance provenance;
  DiagnoseAnswer a;
  DiagnoseAnswer b;
  diagnose::Difference difference;
  std::vector<std::string> met;     // what of ‹fail-on› holds, a sentence each
  std::optional<std::int64_t> top;  // rows of a table; nothing: as many as fit
  bool verbose = false;
};

std::string to_text(const DiffAnswer& answer, const Style& style);

// What the run is: "rank0.json: rank 0 of 8, NVIDIA H100, 3 steps".
std::string compared_run_text(const DiagnoseAnswer& run);
// "17.57 ms → 20.05 ms: 2.48 ms (14.1 %) slower".
std::string step_change_text(const diagnose::Difference& difference);
// "+2.48 ms".
std::string time_change(Seconds time);
// "kernels and idle time: 5 of 46 make up 93.1 % of the change".
std::string makeup_title(const diagnose::Makeup& makeup, std::size_t shown,
                         const diagnose::Difference& difference);
// "new in B: host-sync 2 ms", a line each; empty where nothing is found in either.
std::vector<std::string> finding_change_lines(const diagnose::Difference& difference);
// Of an answer's changes the first `rows`; `first` names the first column.
Table change_table(const std::vector<diagnose::Change>& changes, std::string_view first,
                   std::size_t rows, const diagnose::Difference& difference);

}  // namespace sextant::explain
