#include "machine/machine.h"

#include <algorithm>

#include "base/sha256.h"
#include "cost/comm/torus_time.h"
#include "describe/cluster/torus.h"
#include "describe/draw_facts.h"
#include "describe/layout/attention_kernel.h"
#include "describe/torus_facts.h"

namespace sextant::machine {
namespace {

using describe::Cluster;
using describe::Job;

Result<Torus> torus_of(const Cluster& cluster, const describe::DataStore& data) {
  SEXTANT_TRY(const describe::TorusFacts facts, describe::torus_facts(data));
  const auto& rate = cluster.device.ici_link_bandwidth;
  if (!rate) {
    return not_found("rate of the torus' links not known");
  }
  return Torus{cost::torus_axes(cluster), {rate->value * facts.share.value, facts.hop.value}};
}

// How far messages of a step may be off beyond what steps were measured with.
Result<double> comm_factor(const KnownComm& comm, const describe::DataStore& data) {
  constexpr Bytes kMessage = 64_MiB;  // of a step: layers, buckets
  const bool sockets = comm.network == "tcp" || comm.network == "gloo";
  if (!comm.one_host && !sockets) {
    return 1.0;
  }
  SEXTANT_TRY(const describe::CommSpread spread, describe::comm_spread(data));
  const double host = comm.one_host ? spread.factor(describe::CommRegime::kOneHost, kMessage) : 1.0;
  return std::max(host, sockets ? spread.factor(describe::CommRegime::kSockets, kMessage) : 1.0);
}

std::optional<ExpertLinks> expert_links(const Cluster& cluster,
                                        const describe::ExpertCommFacts& facts) {
  const describe::ExpertKernelFacts* kernels = facts.kernels_of(cluster.device.generation);
  if (kernels == nullptr || !cluster.device.scale_up_bandwidth) {
    return std::nullopt;
  }
  return ExpertLinks{cost::expert_model(facts, *kernels), cluster.device.scale_up_bandwidth->value,
                     facts.sms.value};
}

}  // namespace

void Machines::add_input(const std::string& path, InputFiles& inputs) {
  auto found = hashed_.find(path);
  if (found == hashed_.end()) {
    const auto text = data_.read(path);
    if (!text) {
      return;
    }
    found = hashed_.emplace(path, std::pair(data_.where(path), sha256_hex(*text))).first;
  }
  inputs.push_back(found->second);
}

Result<const Machines::Facts*> Machines::facts() {
  if (!facts_) {
    SEXTANT_TRY(describe::HostFacts host, describe::host_facts(data_));
    SEXTANT_TRY(describe::StepFacts step, describe::step_facts(data_));
    SEXTANT_TRY(describe::ExpertCommFacts experts, describe::expert_comm_facts(data_));
    SEXTANT_TRY(describe::StepSpreads spreads, describe::step_spreads(data_));
    facts_ = Facts{std::move(host), std::move(step), std::move(experts), std::move(spreads)};
  }
  return &*facts_;
}

Result<ComputeMachine> Machines::compute(const Job& job) {
  const describe::Device& device = job.cluster.device;
  const describe::AttentionKernel kernel = describe::attention_kernel(job);
  ComputeMachine machine;
  SEXTANT_TRY(const DeviceModels::Known* known, devices_.of(device, kernel));
  machine.device = known->model;
  SEXTANT_TRY(const Facts* facts, this->facts());
  machine.host = facts->host;
  if (kernel != job.layout.attention) {
    machine.assumed.push_back(
        {"attention",
         std::string(
             describe::word_of<describe::AttentionKernel>(describe::kAttentionKernelWords, kernel)),
         "what PyTorch and Transformer Engine pick on this device",
         "PyTorch 2.11 sdp_utils.cpp; Transformer Engine 2.x attention backends"});
  }
  add_input("kernels/" + known->measured_on + ".toml", machine.inputs);
  if (known->assumed) {
    machine.assumed.push_back(*known->assumed);
    add_input("kernels/generations.toml", machine.inputs);
  }
  add_input("host.toml", machine.inputs);
  machine.assumed.push_back(host_assumption());
  machine.assumed.push_back({"optimizer", "a fused kernel, gradients clipped", {}, {}});
  return machine;
}

Result<std::optional<KnownComm>> Machines::comm_of(const Cluster& cluster) {
  auto known = describe::is_torus(cluster) ? comm_.between_slices(cluster) : comm_.of(cluster);
  if (cluster.devices == 1 && (!known || known->assumed_links)) {
    return std::optional<KnownComm>();  // alone, it sends nothing: no link matters
  }
  if (known) {
    return std::optional(std::move(*known));
  }
  Error error = known.error();
  error.allowed += error.allowed.empty() ? "" : "; ";
  error.allowed += "compute alone: «explain» compute";
  return tl::unexpected(std::move(error));
}

Result<StepModel> Machines::step_model(const Job& job, const ComputeMachine& known,
                                       const std::optional<KnownComm>& comm) {
  SEXTANT_TRY(const Facts* facts, this->facts());
  StepModel model;
  model.device = known.device;
  model.host = known.host;
  model.facts = facts->step;
  if (!comm) {
    return model;
  }
  model.comm = comm->model;
  model.domain_size = placed_domain(job.cluster);
  model.experts = expert_links(job.cluster, facts->experts);
  if (describe::is_torus(job.cluster)) {
    SEXTANT_TRY(model.torus, torus_of(job.cluster, data_));
    model.domain_size = job.cluster.devices / job.cluster.slices;
  }
  return model;
}

Result<StepMachine> Machines::step(const Job& job) {
  SEXTANT_TRY(ComputeMachine known, compute(job));
  SEXTANT_TRY(const std::optional<KnownComm> comm, comm_of(job.cluster));
  SEXTANT_TRY(StepModel model, step_model(job, known, comm));
  SEXTANT_TRY(const Facts* facts, this->facts());
  StepMachine made;
  made.model = std::move(model);
  made.spreads = facts->spreads;
  made.assumed = std::move(known.assumed);
  made.inputs = std::move(known.inputs);
  if (job.cluster.device.power_limit.kind != describe::SourceKind::kAssumed) {
    SEXTANT_TRY(const describe::DrawFacts power, describe::draw_facts(data_));
    made.power = power_draw(job.cluster.device, power);
    made.assumed.push_back(
        {"power", "the H200's shares of its power limit, computing and waiting", {}, "power.toml"});
    add_input("power.toml", made.inputs);
  }
  SEXTANT_TRY(made.memory, describe::memory_facts(data_, job.framework));
  add_input("step.toml", made.inputs);
  add_input("step_spread.toml", made.inputs);
  if (comm) {
    SEXTANT_TRY(made.comm_factor, comm_factor(*comm, data_));
    made.assumed.insert(made.assumed.end(), comm->assumed.begin(), comm->assumed.end());
    if (!comm->link.empty()) {
      add_input("comm/links/" + comm->link + ".toml", made.inputs);
    }
    if (!comm->network.empty()) {
      add_input("comm/networks/" + comm->network + ".toml", made.inputs);
    }
  }
  add_input("memory.toml", made.inputs);
  return made;
}

Result<ComputeMachine> compute_machine(const Job& job, const describe::DataStore& data) {
  return Machines(data).compute(job);
}

Result<StepMachine> step_machine(const Job& job, const describe::DataStore& data) {
  return Machines(data).step(job);
}

}  // namespace sextant::machine
