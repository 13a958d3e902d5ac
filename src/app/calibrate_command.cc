#include "app/calibrate_command.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "app/calibrate_comm.h"
#include "app/calibrate_kernels.h"
#include "app/calibrate_runs.h"

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

}  // namespace

Result<Answered<CalibrateReply>> calibrate(const CalibrateRequest& request,
                                           const Context& context) {
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
