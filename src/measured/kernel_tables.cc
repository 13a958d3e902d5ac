// Kernel tables: timed kernels of one device, kernel efficiencies, and a cluster's
// micro-benchmarks.
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "measured/row_tools.h"
#include "measured/single_device.h"

namespace sextant::measured {

namespace {

constexpr std::array<std::string_view, 6> kSizes{"a", "b", "c", "d", "e", "f"};

Result<Row> kernel_row(Cells cells, const TableContext& context) {
  Row row = new_row(cells, context, TableKind::kGpuKernels);
  KernelSubject subject;
  subject.kind = std::string(cells.text("kind"));
  subject.variant = std::string(cells.text("variant"));
  subject.dtype = std::string(cells.text("dtype"));
  for (std::size_t at = 0; at < kSizes.size(); ++at) {
    subject.sizes[at] = cells.count(kSizes[at]);
  }
  take_quantity(cells, row, {"time_us"});
  SEXTANT_CHECK_OK(cells.ok());
  SEXTANT_TRY(TableDevice device, table_device(context));
  subject.device = std::move(device.id);
  row.assumed.push_back(std::move(device.assumed));
  row.subject = std::move(subject);
  return row;
}

// "b=1, m=4096, layout=TN" → {b, 1}, {m, 4096}, {layout, TN}.
std::vector<std::pair<std::string, std::string>> shape_of(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> shape;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view item = trimmed(part);
    const std::size_t equals = item.find('=');
    if (equals != std::string_view::npos) {
      shape.emplace_back(trimmed(item.substr(0, equals)), trimmed(item.substr(equals + 1)));
    }
  }
  return shape;
}

Result<Row> kernel_efficiency_row(Cells cells, const TableContext& context) {
  Row row = new_row(cells, context, TableKind::kKernelEfficiency);
  KernelEfficiencySubject subject;
  subject.op = std::string(cells.text("op"));
  subject.shape = shape_of(cells.text("shape"));
  subject.peak = cells.required_number("peak_tflops") * 1_TFLOPps;
  if (subject.shape.empty()) {
    cells.reject("shape", "no name=value in it", "m=4096, n=1536, k=5120 and the like");
  }
  take_quantity(cells, row, {"measured_efficiency"});
  SEXTANT_CHECK_OK(cells.ok());
  // The device is in the name of the source's own file, or in this file's.
  SEXTANT_TRY(subject.device, context.hardware.device_in_text(cells.text("source")));
  if (!subject.device) {
    SEXTANT_TRY(subject.device, context.hardware.device_in_text(context.source));
  }
  if (subject.device) {
    row.assumed.push_back({"device", *subject.device, "from the source's name", {}});
  } else if (!row.refusal) {
    row.refusal = "device not stated";
  }
  row.subject = std::move(subject);
  return row;
}

Result<Row> bench_row(Cells cells, const TableContext& context) {
  Row row = new_row(cells, context, TableKind::kClusterBench);
  ClusterBenchSubject subject;
  subject.world = cells.required_count("world");
  subject.threads = cells.required_count("threads");
  subject.kind = std::string(cells.text("kind"));
  subject.group = cells.required_count("group");
  subject.sizes = {cells.count("a"), cells.count("b"), cells.count("c")};
  take_quantity(cells, row, {"time_us"});
  SEXTANT_CHECK_OK(cells.ok());
  row.subject = std::move(subject);
  return row;
}

}  // namespace

Result<std::vector<Row>> read_gpu_kernels(const CsvTable& table, TableContext& context) {
  return read_rows(table, context, kernel_row);
}

Result<std::vector<Row>> read_kernel_efficiency(const CsvTable& table, TableContext& context) {
  return read_rows(table, context, kernel_efficiency_row);
}

Result<std::vector<Row>> read_cluster_bench(const CsvTable& table, TableContext& context) {
  return read_rows(table, context, bench_row);
}

}  // namespace sextant::measured
