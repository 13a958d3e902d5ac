// The machine of a job as the models see it: device and host, and for whole steps links, network
// and memory too; what is assumed of it, and the data files that say so.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/context.h"
#include "app/job_request.h"
#include "base/result.h"
#include "cost/compute/device_model.h"
#include "describe/host_facts.h"
#include "describe/memory_facts.h"
#include "describe/step_spread.h"
#include "step/energy.h"
#include "step/step_model.h"

namespace sextant::app {

using InputFiles = std::vector<std::pair<std::string, std::string>>;  // as Provenance's

// For compute alone: known of more devices than whole steps are.
struct Machine {
  cost::DeviceModel device;
  describe::HostFacts host;
  std::vector<std::string> assumed;
  InputFiles inputs;
};
Result<Machine> machine_of(const describe::Job& job, const JobRequest& request,
                           const Context& context);

struct StepMachine {
  step::StepModel model;
  describe::MemoryFacts memory;
  std::optional<describe::StepSpreads> spreads;
  std::optional<step::PowerDraw> power;  // nothing: what the device may draw is not published
  std::vector<std::string> assumed;
  InputFiles inputs;
};
// An Error where links or network of the cluster were never measured.
Result<StepMachine> step_machine(const describe::Job& job, const JobRequest& request,
                                 const Context& context);

// Adds the texts that are not there yet.
void add_once(const std::vector<std::string>& from, std::vector<std::string>& into);

// Does the layout's text give this key, or this key and value?
bool says(std::string_view layout, std::string_view key, std::string_view value = {});

// provenance_of with more files.
explain::Provenance provenance_with(const JobReading& reading, const InputFiles& inputs);

}  // namespace sextant::app
