#include "calibrate/kernel_calibration.h"

#include <utility>

#include <fmt/format.h>

#include "calibrate/kernel_calls.h"
#include "describe/cluster/load_cluster.h"
#include "describe/kernel_fact_list.h"
#include "describe/kernel_facts.h"

namespace sextant::calibrate {
namespace {

constexpr std::string_view kKinds =
    "kinds gemm, bmm, grouped, attention, memory, loss, optimizer, pcie, launch: columns "
    "kind,variant,dtype,a,b,c,d,e,f,time_us, as scripts/measure/kernel_table.py writes them";

std::string start_text(const describe::KernelFacts& facts, const describe::Device& device) {
  return facts.scaled
             ? fmt::format("kernels of {} by the rules of {}", facts.measured_on, device.generation)
             : fmt::format("data/kernels/{}.toml", device.id);
}

Result<KernelCalibration> fitted_kernels(const Inputs& tables, const describe::Device& device,
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
  KernelCalibration made;
  made.file = describe::kernel_facts_text(std::move(fit.facts), head);
  // Scores are those of the file as it will be read.
  SEXTANT_TRY(const describe::KernelFacts read,
              describe::parse_kernel_facts(made.file, "the fitted file"));
  made.inputs = tables.inputs;
  made.device = device.id;
  made.start = start_text(start, device);
  made.before = cost::family_errors(found.calls, start, device);
  made.after = cost::family_errors(found.calls, read, device);
  made.halves = cost::half_split(found.calls, device, start);
  made.keys = std::move(fit.keys);
  made.unused.assign(found.unused.begin(), found.unused.end());
  return made;
}

}  // namespace

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

Result<KernelCalibration> kernel_calibration(const Inputs& tables, const std::string& device,
                                             const describe::DataStore& data) {
  SEXTANT_TRY(const describe::Device known, describe::load_device(device, data));
  if (devices_of(tables.rows).empty()) {
    return invalid("no table of timed kernels among these", tables.names, std::string(kKinds));
  }
  return fitted_kernels(tables, known, data);
}

}  // namespace sextant::calibrate
