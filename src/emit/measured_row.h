// A job and what it measured as one line of a runs table (docs/interface.md, `validate`), so that a
// user's own logs can stand beside published runs.
//
// Carried: model by name and sizes, cluster, parallel sizes, batch, recomputation by kind,
// precision, overlaps, schedule. Not carried, because such a table has no columns for them: which
// modules are recomputed, storage formats, rank order, splits of a pipeline.
#pragma once

#include <string>
#include <string_view>

#include "describe/layout/job.h"
#include "emit/log_measured.h"

namespace sextant::emit {

// The names of the columns, with a line's end.
std::string row_header();

// The line, with its end. `id` names the row.
std::string measured_row(const describe::Job& job, const MeasuredRun& run, std::string_view id);

}  // namespace sextant::emit
