// The models of the devices that tables and jobs name, made once each, with what they rest on.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "cost/compute/device_model.h"
#include "describe/assumption.h"
#include "describe/data_store.h"

namespace sextant::machine {

// What every answer that counts the host's time assumes.
describe::Assumption host_assumption();

// What facts measured on another device assume; nothing where the device itself was measured.
std::optional<describe::Assumption> scaled_kernels(const describe::KernelFacts& facts,
                                                   const describe::Device& device);

class DeviceModels {
 public:
  struct Known {
    cost::DeviceModel model;
    std::optional<describe::Assumption> assumed;  // scaled_kernels
    std::string measured_on;                      // id of data/kernels
  };

  // `data` must outlive it.
  explicit DeviceModels(const describe::DataStore& data) : data_(data) {}
  // Valid as long as this object.
  Result<const Known*> of(const describe::Device& device, describe::AttentionKernel kernel);
  Result<const Known*> of(const std::string& device, describe::AttentionKernel kernel);

 private:
  const describe::DataStore& data_;
  std::map<std::pair<std::string, describe::AttentionKernel>, Known> models_;
};

}  // namespace sextant::machine
