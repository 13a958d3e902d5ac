#include "app/calibrate_command.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "app/calibrate_comm.h"
#include "app/calibrate_kernels.h"
#include "app/calibrate_runs.h"
#include "app/recorded_devices.h"
#include "app/trace_reading.h"
#include "base/text.h"
#include "calibrate/trace_kernels.h"
#include "measured/table.h"

namespace sextant::app {
namespace {

constexpr const char* kCalibrateCommand = "«calibrate»";
constexpr const char* kDevice =
    "‹device› NAME, an id of data/devices or of devices/ in the folder of ‹data›";

template <typename Subject>
bool any_of(const std::vector<measured::Row>& rows) {
  return std::ranges::any_of(
      rows, [](const measured::Row& row) { return std::holds_alternative<Subject>(row.subject); });
}

bool are_collectives(const std::vector<measured::Row>& rows) {
  return any_of<measured::CollectiveSubject>(rows) && !any_of<measured::KernelSubject>(rows) &&
         !any_of<measured::KernelEfficiencySubject>(rows);
}

bool are_runs(const std::vector<measured::Row>& rows) {
  return std::ranges::all_of(
             rows,
             [](const measured::Row& row) { return row.table == measured::TableKind::kRuns; }) &&
         !rows.empty();
}

Result<void> check_run_options(const CalibrateRequest& request) {
  const std::string option = !request.device.empty()    ? "‹device›"
                             : !request.cluster.empty() ? "‹on›"
                                                        : "";
  if (!option.empty()) {
    return invalid(option + " is for timings of one machine, this is a table of runs",
                   kCalibrateCommand, "tables of runs alone: their rows name their hardware");
  }
  return {};
}

Result<void> check_nccl_options(const CalibrateRequest& request) {
  if (!request.device.empty()) {
    return invalid("‹device› is for tables of kernels, this is nccl-tests output",
                   kCalibrateCommand, "‹on› CLUSTER");
  }
  if (request.cluster.empty()) {
    return invalid("it is not said where nccl-tests ran", kCalibrateCommand,
                   "‹on› CLUSTER, such as 2xdgx-h100 or a cluster.toml");
  }
  return {};
}

Result<void> check_collective_options(const CalibrateRequest& request) {
  if (!request.device.empty()) {
    return invalid("‹device› is for tables of kernels, this is one of collectives",
                   kCalibrateCommand, "a table of collectives alone: its rows name their hardware");
  }
  if (!request.cluster.empty()) {
    return invalid("‹on› is for nccl-tests output, this is a table of collectives",
                   kCalibrateCommand, "a table of collectives alone: its rows name their hardware");
  }
  return {};
}

Result<void> check_kernel_options(const CalibrateRequest& request) {
  if (!request.cluster.empty()) {
    return invalid("‹on› is for nccl-tests output, this is no such", kCalibrateCommand, kDevice);
  }
  if (request.device.empty()) {
    return invalid("it is not said whose timings these are", kCalibrateCommand, kDevice);
  }
  return {};
}

template <typename Answer>
Result<Answered<CalibrateReply>> one_of_all(Result<Answered<Answer>> answered) {
  SEXTANT_TRY(Answered<Answer> one, std::move(answered));
  return Answered<CalibrateReply>{std::move(one.answer), one.outcome, std::move(one.notes),
                                  std::move(one.artifacts)};
}

// Whose kernels a profile holds, by its own name of the device.
Result<std::string> traced_device(const metrics::Summary& summary, const Context& context) {
  std::vector<std::string> names;
  for (const metrics::RankSummary& rank : summary.ranks) {
    names.push_back(rank.device);
  }
  SEXTANT_TRY(const KnownDevices known, known_devices(names, "", context));
  const std::optional<describe::Device>& first = known.of_rank.front();
  std::string id = first ? first->id : std::string();
  for (const std::optional<describe::Device>& device : known.of_rank) {
    if (!device || device->id != id) {
      return invalid("the profile does not say whose kernels these are", kCalibrateCommand,
                     kDevice);
    }
  }
  return id;
}

Result<Answered<CalibrateReply>> calibrate_traces(const CalibrateRequest& request,
                                                  const Context& context, const Control& control) {
  SEXTANT_TRY(TraceReading reading, read_traces({.traces = request.traces}, context, control));
  metrics::Summary summary;
  for (RankReading& rank : reading.ranks) {
    summary.ranks.push_back(std::move(rank.summary));
  }
  std::string device = request.device;
  if (device.empty()) {
    SEXTANT_TRY(device, traced_device(summary, context));
  }
  calibrate::Inputs inputs;
  inputs.inputs = reading.provenance.inputs;
  inputs.names = join(request.traces, ", ");
  SEXTANT_TRY(inputs.rows, measured::parse_table(calibrate::traced_kernels(summary),
                                                 fmt::format("{}.csv", device), context.data));
  if (inputs.rows.empty()) {
    return invalid(
        "no product or attention of the profile has shapes", inputs.names,
        "a profile recorded with shapes (record_shapes=True), kernels of 50 us and more");
  }
  return one_of_all(calibrate_kernels(inputs, {device, request.write_file}, context));
}

}  // namespace

Result<Answered<CalibrateReply>> calibrate(const CalibrateRequest& request, const Context& context,
                                           const Control& control) {
  if (!request.traces.empty()) {
    return request.tables.empty() ? calibrate_traces(request, context, control)
                                  : invalid("tables and profiles were both given",
                                            kCalibrateCommand, "FILE…, or ‹from-trace›");
  }
  if (request.tables.empty()) {
    return invalid("there is nothing to calibrate from", kCalibrateCommand,
                   "FILE…, or ‹from-trace›");
  }
  SEXTANT_TRY(const calibrate::Inputs files, calibrate::read_inputs(request.tables, context.data));
  if (!files.texts.empty()) {
    SEXTANT_CHECK_OK(check_nccl_options(request));
    return one_of_all(calibrate_nccl(files, {request.cluster, request.write_file}, context));
  }
  if (are_collectives(files.rows)) {
    SEXTANT_CHECK_OK(check_collective_options(request));
    return one_of_all(calibrate_collectives(files, request.write_file, context));
  }
  if (are_runs(files.rows)) {
    SEXTANT_CHECK_OK(check_run_options(request));
    return one_of_all(calibrate_runs(files, request.write_file, context));
  }
  SEXTANT_CHECK_OK(check_kernel_options(request));
  return one_of_all(calibrate_kernels(files, {request.device, request.write_file}, context));
}

}  // namespace sextant::app
