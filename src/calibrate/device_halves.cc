#include "calibrate/device_halves.h"

#include <map>
#include <string>

#include "calibrate/kernel_calls.h"
#include "describe/cluster/load_cluster.h"

namespace sextant::calibrate {
namespace {

std::string device_of(const measured::Row& row) {
  if (const auto* timed = std::get_if<measured::KernelSubject>(&row.subject)) {
    return timed->device;
  }
  const auto* share = std::get_if<measured::KernelEfficiencySubject>(&row.subject);
  return share != nullptr ? share->device.value_or("") : "";
}

// Calls that the device decides, and those that the host does.
std::pair<std::vector<cost::TimedCall>, std::vector<cost::TimedCall>> by_length(
    const std::vector<cost::TimedCall>& calls) {
  constexpr Seconds kHostBound = 20_us;
  std::pair<std::vector<cost::TimedCall>, std::vector<cost::TimedCall>> apart;
  for (const cost::TimedCall& call : calls) {
    (call.measured < kHostBound ? apart.second : apart.first).push_back(call);
  }
  return apart;
}

}  // namespace

Result<std::vector<DeviceHalves>> device_halves(const std::vector<measured::Row>& rows,
                                                const describe::DataStore& data) {
  std::map<std::string, std::vector<measured::Row>> by_device;
  for (const measured::Row& row : rows) {
    if (const std::string device = device_of(row); !device.empty()) {
      by_device[device].push_back(row);
    }
  }
  std::vector<DeviceHalves> found;
  for (const auto& [name, own] : by_device) {
    SEXTANT_TRY(const describe::Device device, describe::load_device(name, data));
    SEXTANT_TRY(const describe::KernelFacts facts, describe::kernel_facts(data, device));
    const KernelCalls timed = kernel_calls(own);
    if (timed.calls.empty()) {
      continue;
    }
    const auto errors = [&](const std::vector<cost::TimedCall>& calls) {
      return cost::family_errors(calls, facts, device);
    };
    const auto [long_calls, short_calls] = by_length(timed.calls);
    found.push_back({name, errors(timed.calls), errors(long_calls), errors(short_calls),
                     cost::half_split(timed.calls, device, facts)});
  }
  return found;
}

}  // namespace sextant::calibrate
