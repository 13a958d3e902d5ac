// Tables of measurements: which files are tables, what kind each is, and its rows.
//
// A kind is told by its header alone (JSON: by its keys), never by the file's name, so a table with
// the same header and other rows is read the same way.
#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "describe/data_store.h"
#include "measured/row.h"

namespace sextant::measured {

inline constexpr std::array<describe::Word<TableKind>, 16> kTableKindWords{
    {{TableKind::kRuns, "runs"},
     {TableKind::kCollectives, "collectives"},
     {TableKind::kEpAllToAll, "ep all-to-all"},
     {TableKind::kCommEfficiency, "comm efficiency"},
     {TableKind::kGpuKernels, "gpu kernels"},
     {TableKind::kMemory, "memory"},
     {TableKind::kShardedMemory, "sharded memory"},
     {TableKind::kTrainSteps, "train steps"},
     {TableKind::kRankCompute, "rank compute"},
     {TableKind::kStepCollectives, "step collectives"},
     {TableKind::kClusterSteps, "cluster steps"},
     {TableKind::kClusterBench, "cluster bench"},
     {TableKind::kKernelEfficiency, "kernel efficiency"},
     {TableKind::kStageTimes, "stage times"},
     {TableKind::kPipelineSchedules, "pipeline schedules"},
     {TableKind::kChanges, "changes"}}};

inline constexpr Bytes kMostTable = 64_MiB;

// The kind of a CSV table with these columns (order and further columns do not matter). An unknown
// header is an Error that shows the columns seen and those of every known kind.
Result<TableKind> table_kind(std::span<const std::string_view> header, std::string_view where);

// Every measurement of one table, in table order; several Rows share a line that has several
// measured columns. A malformed cell is an Error at file:line. Tables are at most kMostTable.
Result<std::vector<Row>> read_table(const std::filesystem::path& path,
                                    const describe::DataStore& data);

// The same, for a table already read. `path` names it: ".json" is a JSON table, everything else
// CSV.
Result<std::vector<Row>> parse_table(std::string text, const std::filesystem::path& path,
                                     const describe::DataStore& data);

// Files of the given paths: a file is itself, a folder every .csv and .json below it, sorted by
// path. Other files of a folder (README.md and the like) are skipped; links to folders are not
// followed.
Result<std::vector<std::filesystem::path>> expand_tables(
    std::span<const std::filesystem::path> paths);

}  // namespace sextant::measured
