// The step model of a job's machine: device, host, links and network from the data files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/comm_models.h"
#include "app/device_models.h"
#include "describe/expert_comm_facts.h"
#include "describe/layout/job.h"
#include "step/step_model.h"

namespace sextant::app {

class StepModels {
 public:
  // `data` must outlive it.
  explicit StepModels(const describe::DataStore& data) : data_(data), devices_(data), comm_(data) {}
  // An Error where a part of the machine is not known; what was assumed is added to `assumed`.
  Result<step::StepModel> of(const describe::Job& job, std::vector<std::string>& assumed);

 private:
  const describe::DataStore& data_;
  DeviceModels devices_;
  CommModels comm_;
  struct Facts {
    describe::HostFacts host;
    describe::StepFacts step;
    describe::ExpertCommFacts experts;
  };
  std::optional<Facts> facts_;  // read once
};

}  // namespace sextant::app
