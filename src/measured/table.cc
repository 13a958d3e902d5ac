#include "measured/table.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/read_fence.h"
#include "base/text.h"
#include "measured/readers.h"

namespace sextant::measured {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShown = 400;

constexpr std::size_t kMostTables = 10'000;
constexpr int kDeepestFolder = 32;

using CsvReader = Result<std::vector<Row>> (*)(const CsvTable&, TableContext&);

// A kind, the columns that tell it apart, and its reader. A column "name(" stands for every column
// that begins so. Kinds whose columns include another's come first.
struct Signature {
  TableKind kind;
  std::vector<std::string_view> columns;
  CsvReader reader;
};

const std::vector<Signature>& signatures() {
  static const std::vector<Signature> kAll{
      {TableKind::kRuns,
       {"id", "model", "layers", "num_devices", "global_batch", "step_time_s", "flops_convention",
        "device", "recompute_kind", "precision_kind", "workload_kind"},
       read_runs},
      {TableKind::kCollectives,
       {"hardware", "gpus_per_node", "nodes", "ranks", "collective", "bytes", "time_us",
        "busbw_GBps"},
       read_collectives},
      {TableKind::kEpAllToAll,
       {"hardware", "library", "ep_size", "tokens_per_rank", "topk", "op", "time_us",
        "bandwidth_GBps"},
       read_ep_all_to_all},
      {TableKind::kCommEfficiency,
       {"table", "bytes", "nodes", "gpus", "efficiency_of_theoretical_busbw"},
       read_comm_efficiency},
      {TableKind::kGpuKernels,
       {"kind", "variant", "dtype", "a", "b", "c", "d", "e", "time_us"},
       read_gpu_kernels},
      {TableKind::kTrainSteps,
       {"family", "layers", "hidden", "seq", "micro_batch", "precision", "compile", "optimizer",
        "step_ms_median"},
       read_train_steps},
      {TableKind::kMemory,
       {"family", "layers", "hidden", "seq", "micro_batch", "precision", "state_gib", "peak_gib",
        "reserved_gib"},
       read_memory},
      {TableKind::kShardedMemory,
       {"case", "world", "layers", "reshard", "recompute", "compile", "state_gib", "peak_gib",
        "reserved_gib"},
       read_sharded_memory},
      {TableKind::kStepCollectives,
       {"case", "world", "dp", "tp", "op", "group_size", "in_bytes", "out_bytes", "count"},
       read_step_collectives},
      {TableKind::kRankCompute,
       {"case", "world", "dp", "tp", "layers", "fwd_ms", "bwd_ms", "step_ms"},
       read_rank_compute},
      {TableKind::kClusterSteps,
       {"world", "threads", "model", "tp", "pp", "dp", "micro_batch", "step_ms"},
       read_cluster_steps},
      {TableKind::kClusterBench,
       {"world", "threads", "kind", "group", "a", "b", "c", "time_us"},
       read_cluster_bench},
      {TableKind::kKernelEfficiency,
       {"op", "shape", "peak_tflops", "measured_efficiency"},
       read_kernel_efficiency},
      {TableKind::kStageTimes,
       {"case", "seq", "vocab", "method", "per_stage_fwd_us(", "per_stage_bwd_us(", "iteration_ms"},
       read_stage_times},
      {TableKind::kChanges,
       {"id", "model", "devices", "device", "framework", "before", "after", "change_kind", "metric",
        "effect_pct"},
       read_changes},
  };
  return kAll;
}

bool has_column(std::span<const std::string_view> header, std::string_view wanted) {
  return std::any_of(header.begin(), header.end(), [wanted](std::string_view column) {
    return wanted.back() == '(' ? column.substr(0, wanted.size()) == wanted : column == wanted;
  });
}

bool fits(std::span<const std::string_view> header, const Signature& signature) {
  return std::all_of(signature.columns.begin(), signature.columns.end(),
                     [header](std::string_view column) { return has_column(header, column); });
}

const Signature* find_signature(std::span<const std::string_view> header) {
  for (const Signature& signature : signatures()) {
    if (fits(header, signature)) {
      return &signature;
    }
  }
  return nullptr;
}

template <typename Texts>
std::string listed(const Texts& texts) {
  std::vector<std::string> parts(texts.begin(), texts.end());
  return join(parts, ",");
}

std::string known_kinds() {
  std::vector<std::string> parts;
  for (const Signature& signature : signatures()) {
    parts.push_back(fmt::format("{} ({})",
                                describe::word_of<TableKind>(kTableKindWords, signature.kind),
                                listed(signature.columns)));
  }
  parts.emplace_back("pipeline schedules (JSON with keys such as NAME|pp=4|v=2|mb=8)");
  return join(parts, "; ");
}

tl::unexpected<Error> unknown_header(std::span<const std::string_view> header,
                                     std::string_view where) {
  return invalid(
      fmt::format("no known table has the header \"{}\"", printable(listed(header), kShown)),
      std::string(where), known_kinds());
}

Result<std::vector<Row>> read_json(const std::string& text, const std::string& where,
                                   TableContext& context) {
  SEXTANT_TRY(const describe::JsonValue document,
              describe::JsonValue::parse(text, where, kMostTable));
  const std::vector<std::string> keys = document.keys();
  const bool schedules =
      !keys.empty() && std::all_of(keys.begin(), keys.end(), [](const auto& key) {
        return key.find("|pp=") != std::string::npos;
      });
  if (!schedules) {
    return invalid(fmt::format("no known table has the keys \"{}\"", printable(listed(keys))),
                   where, known_kinds());
  }
  return read_pipeline_schedules(document, context);
}

bool is_table(const fs::path& path) {
  const std::string extension = to_lower(path.extension().string());
  return extension == ".csv" || extension == ".json";
}

// Links to folders are not followed.
Result<void> add_folder(const fs::path& folder, int depth, std::vector<fs::path>& files) {
  SEXTANT_TRY(const std::vector<fs::path> entries, list_folder(folder, kMostTables + 1));
  for (const fs::path& entry : entries) {
    std::error_code error;
    if (fs::is_directory(fs::symlink_status(entry, error)) && depth < kDeepestFolder) {
      SEXTANT_CHECK_OK(add_folder(entry, depth + 1, files));
    } else if (fs::is_regular_file(entry, error) && is_table(entry)) {
      files.push_back(entry);
    }
    if (files.size() > kMostTables) {
      return invalid(fmt::format("more than {} tables", kMostTables), folder.string());
    }
  }
  return {};
}

}  // namespace

Result<TableKind> table_kind(std::span<const std::string_view> header, std::string_view where) {
  const Signature* signature = find_signature(header);
  if (signature == nullptr) {
    return unknown_header(header, where);
  }
  return signature->kind;
}

Result<std::vector<Row>> read_table(const fs::path& path, const describe::DataStore& data) {
  SEXTANT_TRY(std::string text, read_text(path, kMostTable));
  return parse_table(std::move(text), path, data);
}

Result<std::vector<Row>> parse_table(std::string text, const fs::path& path,
                                     const describe::DataStore& data) {
  const std::string where = path.string();
  Hardware hardware(data);
  TableContext context{path, path.stem().string(), hardware};
  if (to_lower(path.extension().string()) == ".json") {
    return read_json(text, where, context);
  }
  SEXTANT_TRY(const CsvTable table, CsvTable::parse(std::move(text), where));
  const Signature* signature = find_signature(table.header());
  if (signature == nullptr) {
    return unknown_header(table.header(), where);
  }
  return signature->reader(table, context);
}

Result<std::vector<fs::path>> expand_tables(std::span<const fs::path> paths) {
  std::vector<fs::path> files;
  for (const fs::path& path : paths) {
    SEXTANT_CHECK_OK(may_read(path));
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
      return not_found("there is no such table or folder", path.string());
    }
    if (!fs::is_directory(status)) {
      files.push_back(path);
      continue;
    }
    std::vector<fs::path> inside;
    SEXTANT_CHECK_OK(add_folder(path, 0, inside));
    if (inside.empty()) {
      return not_found("there is no table in the folder", path.string());
    }
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

}  // namespace sextant::measured
