#include "app/calibrate_kernels.h"

#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "app/kernel_calls.h"
#include "base/text.h"
#include "describe/cluster/load_cluster.h"
#include "describe/kernel_facts.h"
#include "explain/calibration_view.h"

namespace sextant::app {
namespace {

constexpr std::string_view kKinds =
    "kinds gemm, bmm, grouped, attention, memory, loss, optimizer, pcie, launch: columns "
    "kind,variant,dtype,a,b,c,d,e,f,time_us, as scripts/measure/kernel_table.py writes them";

// Devices that the rows name, as their tables' readers found them.
std::set<std::string> devices_of(const std::vector<measured::Row>& rows) {
  std::set<std::string> devices;
  for (const measured::Row& row : rows) {
    if (const auto* timed = std::get_if<measured::KernelSubject>(&row.subject)) {
      devices.insert(timed->device);
    } else if (const auto* share = std::get_if<measured::KernelEfficiencySubject>(&row.subject)) {
      devices.insert(share->device.value_or("?"));
    }
  }
  return devices;
}

std::string start_text(const describe::KernelFacts& facts, const describe::Device& device) {
  return facts.scaled
             ? fmt::format("kernels of {} by the rules of {}", facts.measured_on, device.generation)
             : fmt::format("data/kernels/{}.toml", device.id);
}

struct CalibratedKernels {
  explain::CalibrationAnswer answer;
  std::string file;  // what --write writes
};

Result<CalibratedKernels> calibrated_kernels(const CalibrateFiles& tables,
                                             const describe::Device& device,
                                             const describe::DataStore& data) {
  const KernelCalls found = kernel_calls(tables.rows);
  if (found.calls.empty()) {
    return invalid(fmt::format("none of {} rows is the timing of a kernel that is known here",
                               tables.rows.size()),
                   tables.names, std::string(kKinds));
  }
  SEXTANT_TRY(const describe::KernelFacts start, describe::kernel_facts(data, device));
  cost::KernelFit fit = cost::fit_kernels(found.calls, device, start, tables.names);
  const std::string head =
      fmt::format("Kernels of {}: made by `sextant calibrate` from {} rows of {}. Start: {}.",
                  device.id, found.calls.size(), tables.names, start_text(start, device));
  CalibratedKernels made;
  made.file = explain::kernel_file(std::move(fit.facts), head);
  // Scores are those of the file as it will be read.
  SEXTANT_TRY(const describe::KernelFacts read,
              describe::parse_kernel_facts(made.file, "the fitted file"));
  explain::CalibrationAnswer& answer = made.answer;
  answer.provenance = {std::string(explain::tool_version()), tables.inputs};
  answer.device = device.id;
  answer.start = start_text(start, device);
  answer.before = cost::family_errors(found.calls, start, device);
  answer.after = cost::family_errors(found.calls, read, device);
  answer.halves = cost::half_split(found.calls, device, start);
  answer.keys = std::move(fit.keys);
  answer.unused.assign(found.unused.begin(), found.unused.end());
  return made;
}

// How to use the file: by a folder of data that holds it as kernels/<device>.toml.
std::vector<std::string> use_notes(const std::string& file, const std::string& device) {
  const std::filesystem::path path(file);
  std::vector<std::string> notes{fmt::format("kernel facts of {} written to {}", device, file)};
  const bool in_place = path.parent_path().filename() == "kernels" &&
                        path.filename() == fmt::format("{}.toml", device);
  if (in_place) {
    const std::string folder = path.parent_path().parent_path().string();
    notes.push_back(
        fmt::format("use them: add --data {} to any command, or data = \"{}\" to the "
                    "configuration file",
                    folder.empty() ? "." : folder, folder.empty() ? "." : folder));
  } else {
    notes.push_back(fmt::format(
        "to use them, name the file FOLDER/kernels/{}.toml and add --data FOLDER to any command",
        device));
  }
  return notes;
}

}  // namespace

Result<Output> calibrate_kernels(const CalibrateFiles& tables, const KernelOptions& options,
                                 const Context& context) {
  SEXTANT_TRY(const describe::Device device, describe::load_device(options.device, context.data));
  const std::set<std::string> devices = devices_of(tables.rows);
  if (devices.empty()) {
    return invalid("no table of timed kernels among these", tables.names, std::string(kKinds));
  }
  SEXTANT_TRY(const CalibratedKernels made, calibrated_kernels(tables, device, context.data));
  Output output;
  if (!options.write_file.empty()) {
    SEXTANT_CHECK_OK(write_with_folder(options.write_file, made.file));
    output.notes = use_notes(options.write_file, device.id);
  }
  if (devices != std::set<std::string>{device.id}) {
    output.notes.push_back(fmt::format(
        "validate reads these tables as of {}: it takes the device from the name of "
        "the file or its folder, here {} would say it",
        join(std::vector<std::string>(devices.begin(), devices.end()), ", "), device.id));
  }
  output.text = explain::to_text(made.answer, context.style);
  return output;
}

}  // namespace sextant::app
