// Pipeline stages of a job's ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diagnose/meetings.h"
#include "metrics/summary.h"

namespace sextant::diagnose {

// Where the rank stands on the axis ("pp"), as far as the source says.
std::optional<std::int64_t> coordinate(const metrics::RankSummary& rank, const char* axis);

// The stage of each rank (place in Summary::ranks), from 0; empty where there are no stages: of
// coordinates "pp", else from which rank sends to which: how far from the first.
std::vector<std::int64_t> stages_of(const metrics::Summary& summary, const Meetings& meetings);

}  // namespace sextant::diagnose
