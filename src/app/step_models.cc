#include "app/step_models.h"

#include "describe/cluster/torus.h"
#include "describe/torus_facts.h"

namespace sextant::app {
namespace {

Result<step::Torus> torus_of(const describe::Cluster& cluster, const describe::DataStore& data) {
  SEXTANT_TRY(const describe::TorusFacts facts, describe::torus_facts(data));
  const auto& rate = cluster.device.ici_link_bandwidth;
  if (!rate) {
    return not_found("rate of the torus' links not known");
  }
  return step::Torus{cost::torus_axes(cluster), {rate->value * facts.share.value, facts.hop.value}};
}

std::optional<step::ExpertLinks> expert_links(const describe::Cluster& cluster,
                                              const describe::ExpertCommFacts& facts) {
  const describe::ExpertKernelFacts* kernels = facts.kernels_of(cluster.device.generation);
  if (kernels == nullptr || !cluster.device.scale_up_bandwidth) {
    return std::nullopt;
  }
  return step::ExpertLinks{cost::expert_model(facts, *kernels),
                           cluster.device.scale_up_bandwidth->value, facts.sms.value};
}

}  // namespace

Result<step::StepModel> StepModels::of(const describe::Job& job,
                                       std::vector<std::string>& assumed) {
  if (!facts_) {
    SEXTANT_TRY(describe::HostFacts host, describe::host_facts(data_));
    SEXTANT_TRY(describe::StepFacts step, describe::step_facts(data_));
    SEXTANT_TRY(describe::ExpertCommFacts experts, describe::expert_comm_facts(data_));
    facts_ = Facts{std::move(host), std::move(step), std::move(experts)};
  }
  SEXTANT_TRY(const DeviceModels::Known* device,
              devices_.of(job.cluster.device, job.layout.attention));
  const bool tpu = describe::is_torus(job.cluster);
  SEXTANT_TRY(KnownComm comm, tpu ? comm_.between_slices(job.cluster) : comm_.of(job.cluster));
  if (!device->assumed.empty()) {
    assumed.push_back(device->assumed);
  }
  assumed.insert(assumed.end(), comm.assumed.begin(), comm.assumed.end());
  step::StepModel model{device->model,
                        facts_->host,
                        comm.model,
                        placed_domain(job.cluster),
                        {},
                        expert_links(job.cluster, facts_->experts),
                        facts_->step};
  if (tpu) {
    SEXTANT_TRY(const step::Torus torus, torus_of(job.cluster, data_));
    model.domain_size = job.cluster.devices / job.cluster.slices;
    model.torus = torus;
  }
  return model;
}

}  // namespace sextant::app
