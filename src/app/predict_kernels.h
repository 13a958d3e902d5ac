// Times and efficiencies of single kernels as the tables print them.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "cost/compute/device_model.h"
#include "describe/data_store.h"
#include "measured/validate.h"

namespace sextant::app {

// Answers rows of kernel tables; refuses others. Keeps the model of each device it met. `data` must
// outlive it.
class KernelPredictor {
 public:
  explicit KernelPredictor(const describe::DataStore& data) : data_(data) {}
  measured::Answer operator()(const measured::Row& row);

 private:
  struct Known {
    cost::DeviceModel model;
    std::string assumed;  // "" where the device itself was measured
  };
  Result<Known> known(const std::string& device, describe::AttentionKernel kernel);

  const describe::DataStore& data_;
  std::map<std::pair<std::string, describe::AttentionKernel>, Known> models_;
};

}  // namespace sextant::app
