// The readers behind read_table, one per kind of table. Each takes a table whose header is known to
// fit.
#pragma once

#include <filesystem>
#include <vector>

#include "base/csv.h"
#include "base/result.h"
#include "describe/json_value.h"
#include "measured/hardware.h"
#include "measured/row.h"

namespace sextant::measured {

// What every reader needs: the table's file and the hardware it may name.
struct TableContext {
  std::filesystem::path path;
  std::string source;  // the file's name without extension
  Hardware& hardware;
};

Result<std::vector<Row>> read_runs(const CsvTable& table, TableContext& context);
Result<std::vector<Row>> read_collectives(const CsvTable& table, TableContext& context);
Result<std::vector<Row>> read_ep_all_to_all(const CsvTable& table, TableContext& context);
Result<std::vector<Row>> read_comm_efficiency(const CsvTable& table, TableContext& context);
Result<std::vector<Row>> read_gpu_kernels(const CsvTable& table, TableContext& context);
Result<std::vector<Row>> read_memory(const CsvTable& table, TableContext& context);
Result<std::vector<Row>> read_sharded_memory(const CsvTable& table, TableContext& context);
Result<std::vector<Row>> read_train_steps(const CsvTable& table, TableContext& context);
Result<std::vector<Row>> read_rank_compute(const CsvTable& table, TableContext& context);
Result<std::vector<Row>> read_step_collectives(const CsvTable& table, TableContext& context);
Result<std::vector<Row>> read_cluster_steps(const CsvTable& table, TableContext& context);
Result<std::vector<Row>> read_cluster_bench(const CsvTable& table, TableContext& context);
Result<std::vector<Row>> read_kernel_efficiency(const CsvTable& table, TableContext& context);
Result<std::vector<Row>> read_changes(const CsvTable& table, TableContext& context);
Result<std::vector<Row>> read_stage_times(const CsvTable& table, TableContext& context);
Result<std::vector<Row>> read_pipeline_schedules(const describe::JsonValue& document,
                                                 TableContext& context);

}  // namespace sextant::measured
