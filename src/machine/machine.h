// The machine of a job as the models see it: the one road from a job to its numbers.
//
// Device and host, and for whole steps links, network and memory too; what is assumed of it, and
// the data files that say so. Every command, the ledger and the fits ask here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "describe/assumption.h"
#include "describe/data_store.h"
#include "describe/expert_comm_facts.h"
#include "describe/layout/job.h"
#include "describe/memory_facts.h"
#include "describe/step_spread.h"
#include "machine/comm_models.h"
#include "machine/device_models.h"
#include "machine/step_model.h"

namespace sextant::machine {

// Name of each file and the SHA-256 of its bytes.
using InputFiles = std::vector<std::pair<std::string, std::string>>;

// For compute alone: known of more devices than whole steps are.
struct ComputeMachine {
  cost::DeviceModel device;
  describe::HostFacts host;
  describe::Assumptions assumed;
  InputFiles inputs;
};

struct StepMachine {
  StepModel model;
  describe::MemoryFacts memory;
  std::optional<describe::StepSpreads> spreads;  // there in every one that was made
  // Messages may take this many times as long, or as short, as they are said to: beside what the
  // intervals of measured steps hold, where no step was measured over such links (a host whose
  // layout decides, sockets).
  double comm_factor = 1.0;
  std::optional<PowerDraw> power;  // nothing: what the device may draw is not published
  describe::Assumptions assumed;
  InputFiles inputs;
};

// Machines of many jobs: files are read once.
class Machines {
 public:
  // `data` must outlive it.
  explicit Machines(const describe::DataStore& data) : data_(data), devices_(data), comm_(data) {}

  Result<ComputeMachine> compute(const describe::Job& job);
  // An Error where links or network of the cluster were never measured.
  Result<StepMachine> step(const describe::Job& job);

 private:
  struct Facts {
    describe::HostFacts host;
    describe::StepFacts step;
    describe::ExpertCommFacts experts;
    describe::StepSpreads spreads;
  };
  Result<const Facts*> facts();
  // Links and network; nothing where a device alone sends nothing.
  Result<std::optional<KnownComm>> comm_of(const describe::Cluster& cluster);
  Result<StepModel> step_model(const describe::Job& job, const ComputeMachine& known,
                               const std::optional<KnownComm>& comm);
  void add_input(const std::string& path, InputFiles& inputs);

  const describe::DataStore& data_;
  DeviceModels devices_;
  CommModels comm_;
  std::optional<Facts> facts_;
  std::map<std::string, std::pair<std::string, std::string>, std::less<>> hashed_;  // by path
};

// Of one job.
Result<ComputeMachine> compute_machine(const describe::Job& job, const describe::DataStore& data);
Result<StepMachine> step_machine(const describe::Job& job, const describe::DataStore& data);

}  // namespace sextant::machine
