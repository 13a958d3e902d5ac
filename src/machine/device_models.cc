#include "machine/device_models.h"

#include <fmt/format.h>

#include "describe/cluster/load_cluster.h"

namespace sextant::machine {

describe::Assumption host_assumption() {
  return {"host", "as fast as the measured one", {}, "host.toml"};
}

std::optional<describe::Assumption> scaled_kernels(const describe::KernelFacts& facts,
                                                   const describe::Device& device) {
  if (!facts.scaled) {
    return std::nullopt;
  }
  return describe::Assumption{"kernels", facts.measured_on,
                              fmt::format("scaled to {}, whose were not measured", device.id),
                              "kernels/generations.toml"};
}

Result<const DeviceModels::Known*> DeviceModels::of(const describe::Device& device,
                                                    describe::AttentionKernel kernel) {
  const auto key = std::pair(device.id, kernel);
  if (const auto found = models_.find(key); found != models_.end()) {
    return &found->second;
  }
  SEXTANT_TRY(const describe::KernelFacts facts, describe::kernel_facts(data_, device));
  Known made{cost::device_model(facts, device, kernel), scaled_kernels(facts, device),
             facts.measured_on};
  return &models_.emplace(key, std::move(made)).first->second;
}

Result<const DeviceModels::Known*> DeviceModels::of(const std::string& device,
                                                    describe::AttentionKernel kernel) {
  if (const auto found = models_.find(std::pair(device, kernel)); found != models_.end()) {
    return &found->second;
  }
  SEXTANT_TRY(const describe::Device loaded, describe::load_device(device, data_));
  return of(loaded, kernel);
}

}  // namespace sextant::machine
