// Times of training steps on one device and of single ranks, as the tables print them.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cost/compute/rank_time.h"
#include "describe/data_store.h"
#include "machine/device_models.h"
#include "measured/validate.h"

namespace sextant::validate {

// Answers rows of train steps and rank compute; refuses others. `data` must outlive it.
class StepPredictor {
 public:
  explicit StepPredictor(const describe::DataStore& data) : data_(data), devices_(data) {}
  measured::Answer operator()(const measured::Row& row);

 private:
  Result<const describe::HostFacts*> host();
  Result<measured::Prediction> train_step(const measured::SingleDeviceSubject& subject,
                                          const std::string& quantity);
  Result<measured::Prediction> rank_compute(const measured::RankComputeSubject& subject,
                                            const std::string& quantity);

  const describe::DataStore& data_;
  machine::DeviceModels devices_;
  std::optional<describe::HostFacts> host_;
};

}  // namespace sextant::validate
