// Times and efficiencies of single kernels as the tables print them.
#pragma once

#include "describe/data_store.h"
#include "machine/device_models.h"
#include "measured/validate.h"

namespace sextant::validate {

// Answers rows of kernel tables; refuses others. `data` must outlive it.
class KernelPredictor {
 public:
  explicit KernelPredictor(const describe::DataStore& data) : devices_(data) {}
  measured::Answer operator()(const measured::Row& row);

 private:
  machine::DeviceModels devices_;
};

}  // namespace sextant::validate
