// What the step model says of published runs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "app/comm_models.h"
#include "app/device_models.h"
#include "measured/validate.h"
#include "step/estimate.h"

namespace sextant::app {

class RunPredictor {
 public:
  // `data` must outlive it.
  explicit RunPredictor(const describe::DataStore& data)
      : data_(data), devices_(data), comm_(data) {}
  // Answers the times and rates of runs.
  measured::Answer operator()(const measured::Row& row);
  // The model of a job's machine; an Error where a part of it is not known.
  Result<step::StepModel> model_of(const describe::Job& job, std::vector<std::string>& assumed);

 private:
  const describe::DataStore& data_;
  DeviceModels devices_;
  CommModels comm_;
  struct Facts {
    describe::HostFacts host;
    describe::StepFacts step;
  };
  std::optional<Facts> facts_;  // read once
  std::map<const describe::Job*, step::StepEstimate> kept_;
};

}  // namespace sextant::app
