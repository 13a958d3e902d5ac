// Times of training steps on one device and of single ranks, as the tables print them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "cost/compute/rank_time.h"
#include "describe/data_store.h"
#include "measured/validate.h"

namespace sextant::app {

// Answers rows of train steps and rank compute; refuses others. Keeps the model of each device it
// met. `data` must outlive it.
class StepPredictor {
 public:
  explicit StepPredictor(const describe::DataStore& data) : data_(data) {}
  measured::Answer operator()(const measured::Row& row);

 private:
  struct Known {
    cost::DeviceModel model;
    std::string assumed;  // "" where the device itself was measured
  };
  Result<const Known*> known(const describe::Device& device);
  Result<const describe::HostFacts*> host();
  measured::Answer train_step(const measured::SingleDeviceSubject& subject,
                              const std::string& quantity);
  measured::Answer rank_compute(const measured::RankComputeSubject& subject,
                                const std::string& quantity);

  const describe::DataStore& data_;
  std::map<std::string, Known> models_;
  std::optional<describe::HostFacts> host_;
};

}  // namespace sextant::app
