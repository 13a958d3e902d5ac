#include "app/predict_runs.h"

#include <array>

#include <fmt/format.h>

#include "describe/layout/rules.h"
#include "describe/torus_facts.h"
#include "measured/flops_convention.h"
#include "workload/operators.h"

namespace sextant::app {
namespace {

using measured::Answer;
using measured::Prediction;
using measured::Refusal;
using measured::RunSubject;

// The slice of a TPU cluster. An axis closes into a ring where it is a multiple of four chips long.
Result<step::Torus> torus_of(const describe::Cluster& cluster, const describe::DataStore& data) {
  SEXTANT_TRY(const describe::TorusFacts facts, describe::torus_facts(data));
  const auto& rate = cluster.device.ici_link_bandwidth;
  if (!rate) {
    return not_found("rate of the torus' links not known");
  }
  constexpr std::int64_t kRing = 4;
  step::Torus torus;
  torus.shape = cluster.torus;
  for (std::size_t i = 0; i < torus.shape.size(); ++i) {
    torus.rings[i] = torus.shape[i] % kRing == 0;
  }
  torus.links = {rate->value * facts.share.value, facts.hop.value};
  return torus;
}

}  // namespace

Result<step::StepModel> RunPredictor::model_of(const describe::Job& job,
                                               std::vector<std::string>& assumed) {
  if (!facts_) {
    SEXTANT_TRY(describe::HostFacts host, describe::host_facts(data_));
    SEXTANT_TRY(describe::StepFacts step, describe::step_facts(data_));
    facts_ = Facts{std::move(host), std::move(step)};
  }
  SEXTANT_TRY(const DeviceModels::Known* device,
              devices_.of(job.cluster.device, job.layout.attention));
  const describe::ScaleUp scale_up = job.cluster.system.scale_up;
  const bool tpu = scale_up == describe::ScaleUp::kIci2d || scale_up == describe::ScaleUp::kIci3d;
  SEXTANT_TRY(KnownComm comm, tpu ? comm_.between_slices(job.cluster) : comm_.of(job.cluster));
  if (!device->assumed.empty()) {
    assumed.push_back(device->assumed);
  }
  assumed.insert(assumed.end(), comm.assumed.begin(), comm.assumed.end());
  step::StepModel model{device->model, facts_->host, comm.model, placed_domain(job.cluster), {},
                        facts_->step};
  if (tpu) {
    SEXTANT_TRY(const step::Torus torus, torus_of(job.cluster, data_));
    model.domain_size = job.cluster.devices / job.cluster.slices;
    model.torus = torus;
  }
  return model;
}

Answer RunPredictor::operator()(const measured::Row& row) {
  const auto& subject = std::get<RunSubject>(row.subject);
  if (!subject.job) {
    return Refusal{"no job"};
  }
  const describe::Job& job = *subject.job;
  if (!subject.beyond_layout.empty()) {
    return Refusal{subject.beyond_layout.front()};
  }
  if (!describe::check_rules(job).empty()) {
    return Refusal{fmt::format("not legal: {}", describe::check_rules(job).front().rule)};
  }
  Prediction prediction;
  auto found = kept_.find(&job);
  if (found == kept_.end()) {
    const auto model = model_of(job, prediction.assumed);
    if (!model) {
      return Refusal{model.error().what};
    }
    found = kept_.emplace(&job, step::estimate_step(job, *model)).first;
  }
  const Seconds step = found->second.step;
  const double tokens =
      static_cast<double>(job.global_batch) * static_cast<double>(job.sequences.length);
  if (row.quantity == "step_time_s") {
    prediction.value = step / 1_s;
  } else if (row.quantity == "tokens_per_s_per_device") {
    prediction.value = tokens / (step / 1_s) / static_cast<double>(job.cluster.devices);
  } else {
    return Refusal{"not modelled yet: " + row.quantity};
  }
  return prediction;
}

}  // namespace sextant::app
