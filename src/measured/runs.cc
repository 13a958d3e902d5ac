// Published training runs: model, cluster and layout of a row, and the quantities it measured.
#include <fmt/format.h>

#include "base/text.h"
#include "describe/assumption.h"
#include "measured/flops_convention.h"
#include "measured/origin.h"
#include "measured/readers.h"
#include "measured/row_tools.h"
#include "measured/run_cells.h"
#include "measured/run_job.h"
#include "measured/run_model.h"

namespace sextant::measured {

namespace {

MemoryKind memory_kind(std::string_view text) {
  const std::string lower = to_lower(text);
  if (contains(lower, "nvidia-smi")) {
    return MemoryKind::kDevice;
  }
  if (contains(lower, "allocated") || contains(lower, "active")) {
    return MemoryKind::kAllocated;
  }
  return contains(lower, "reserved") ? MemoryKind::kReserved : MemoryKind::kUnknown;
}

// "printed in GB", "GB as printed": decimal, as nvidia-smi's numbers are passed on; "MB/1024" is
// not.
Bytes memory_unit(std::string_view text) {
  return contains(text, "GB") && !contains(text, "1024") ? 1_GB : 1_GiB;
}

// Everything but the layout, so that rows of one key are one question with several answers.
std::string layout_group(const RunCells& run, const TableContext& context) {
  const auto number = [](const Count& count) { return count.value_or(0); };
  return fmt::format("{}|{}|{}x{}x{}x{}|V{}|s{}|b{}|{}|{}x{}|{}|{}|{}", context.source, run.model,
                     number(run.layers), number(run.hidden), number(run.ffn), number(run.heads),
                     number(run.vocab), number(run.seq), number(run.global_batch),
                     run.precision_kind, number(run.devices), run.device, run.workload_kind,
                     run.framework, run.date);
}

// One measured column; `refusal` where it cannot be brought to a step time.
struct Measurement {
  std::string quantity;
  double value = 0.0;
  std::optional<std::string> refusal;
  std::optional<describe::Assumption> assumed;
};

double tokens_per_device(const RunCells& run) {
  return static_cast<double>(stated(run.global_batch)) * static_cast<double>(stated(run.seq)) /
         static_cast<double>(stated(run.devices));
}

std::string_view convention_code(std::string_view text) {
  const std::string_view code = text.substr(0, text.find(':'));
  return code.empty() ? "none" : code;
}

// The time of a step: measured, or from tokens/s, or from TFLOP/s by the source's own count.
Measurement time_of(const RunCells& run, const std::optional<describe::Model>& model) {
  if (run.step_time_s) {
    return {"step_time_s", *run.step_time_s, {}, {}};
  }
  const auto missing = missing_batch(run);
  if (run.tokens_per_s_per_device) {
    if (missing || !run.devices) {
      return {"tokens_per_s_per_device", *run.tokens_per_s_per_device, missing, {}};
    }
    return {"step_time_s",
            tokens_per_device(run) / *run.tokens_per_s_per_device,
            {},
            describe::Assumption{"step_time_s", "from tokens/s", {}, {}}};
  }
  const auto convention = flops_convention(run.flops_convention);
  if (!convention || missing || !model || !run.devices) {
    const std::string why = convention
                                ? missing.value_or("model not known")
                                : fmt::format("TFLOPs under a convention that is not defined: {}",
                                              printable(convention_code(run.flops_convention)));
    return {"tflops_per_device", run.tflops_per_device.value_or(1.0), why, {}};
  }
  const Flops step = flops_per_token(*model, stated(run.seq), *convention) * tokens_per_device(run);
  return {"step_time_s",
          step / (run.tflops_per_device.value_or(1.0) * 1_TFLOPps) / 1_s,
          {},
          describe::Assumption{"step_time_s",
                               "from TFLOPs",
                               fmt::format("by {}", convention_code(run.flops_convention)),
                               {}}};
}

std::vector<Measurement> measurements(const RunCells& run,
                                      const std::optional<describe::Model>& model) {
  std::vector<Measurement> found;
  if (run.step_time_s || run.tokens_per_s_per_device || run.tflops_per_device) {
    found.push_back(time_of(run, model));
  }
  if (run.mem_gib) {
    found.push_back({"mem_gib", *run.mem_gib, missing_batch(run), {}});
  }
  if (run.memory_kind == "OOM") {
    found.push_back({"fits", 0.0, missing_batch(run), {}});
  }
  if (found.empty() && run.mfu_pct) {
    found.push_back({"mfu_pct", *run.mfu_pct, "a share of peak without its count", {}});
  }
  if (found.empty()) {
    found.push_back({"step_time_s", 0.0, "nothing was measured", {}});
  }
  return found;
}

Result<std::vector<Row>> run_rows(const RunCells& run, TableContext& context) {
  SEXTANT_TRY(const ModelReading model, run_model(run, context.hardware.data()));
  SEXTANT_TRY(RunJob job, run_job(run, model, context.hardware));
  Row row;
  row.id = run.id;
  row.source = context.source;
  row.table = TableKind::kRuns;
  row.trust = run.trust;
  row.assumed = std::move(job.assumed);
  row.layout_group = layout_group(run, context);
  row.subject = RunSubject{
      .job = std::move(job.job),
      .memory = memory_kind(run.memory_kind),
      .memory_unit = memory_unit(run.memory_kind),
      .memory_of_last_stage = contains(run.memory_kind, "logging rank"),
      .beyond_layout = std::move(job.beyond_layout),
      .framework = std::string(run.framework),
      .flags = std::string(run.flags),
      .recompute = std::string(run.recompute_text),
      .hardware = std::string(run.hardware),
      .date = std::string(run.date),
      .origin = origin_of(run.source.empty() ? std::string_view(context.source) : run.source)};
  std::vector<Row> rows;
  for (Measurement& measurement : measurements(run, model.model)) {
    rows.push_back(row);
    Row& out = rows.back();
    out.quantity = std::move(measurement.quantity);
    out.measured = measurement.value;
    out.refusal = std::move(measurement.refusal);
    if (!out.refusal && !job.refusal.empty()) {
      out.refusal = job.refusal;
    }
    if (measurement.assumed) {
      out.assumed.push_back(std::move(*measurement.assumed));
    }
    if (out.quantity != "step_time_s") {
      out.layout_group.clear();
    }
  }
  return rows;
}

}  // namespace

Result<std::vector<Row>> read_runs(const CsvTable& table, TableContext& context) {
  std::vector<Row> rows;
  rows.reserve(table.rows());
  for (std::size_t line = 0; line < table.rows(); ++line) {
    SEXTANT_TRY(const RunCells run, read_run_cells(Cells(table, line)));
    SEXTANT_TRY(std::vector<Row> found, run_rows(run, context));
    for (Row& row : found) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace sextant::measured
