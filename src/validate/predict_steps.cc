#include "validate/predict_steps.h"

#include <fmt/format.h>

#include "workload/operators.h"
#include "workload/shard.h"
#include "workload/stages.h"

namespace sextant::validate {
namespace {

using cost::RankClock;
using cost::RankTime;
using cost::UpdateLoop;
using measured::Answer;
using measured::Prediction;
using measured::RankComputeSubject;
using measured::Refusal;
using measured::SingleDeviceSubject;

// What PyTorch's scaled_dot_product_attention picks on Hopper.
constexpr describe::AttentionKernel kSdpa = describe::AttentionKernel::kCudnn;

Prediction step_prediction(Seconds value, const machine::DeviceModels::Known& device) {
  Prediction prediction{value / 1_ms, std::nullopt, {}};
  if (device.assumed) {
    prediction.assumed.push_back(*device.assumed);
  }
  prediction.assumed.push_back(machine::host_assumption());
  return prediction;
}

std::optional<UpdateLoop> loop_of(std::string_view text) {
  if (text == "fused" || text.empty()) {
    return UpdateLoop::kFused;
  }
  if (text == "foreach") {
    return UpdateLoop::kForeach;
  }
  return text == "loop" ? std::optional(UpdateLoop::kLoop) : std::nullopt;
}

// The tables' process group does not exist: a gather is a copy a rank on the same device, issued
// one by one. Forward and, where parameters were freed, backward.
void add_copies_of_gathers(const describe::Job& job, const workload::Shard& shard,
                           const describe::HostFacts& host, RankTime& time) {
  if (!cost::gathers_units(job, job.layout, shard)) {
    return;
  }
  const double units = static_cast<double>(job.model.layer_count()) + 1.0;
  const double copies_of_all = units * static_cast<double>(shard.zero_shards);
  const Seconds copies = host.copy.value * copies_of_all;
  time.forward.host += copies;
  time.forward.device += host.copy_beside.value * copies_of_all;
  if (job.layout.reshard_after_forward) {
    time.backward.host += copies;
  }
}

// The tables' loss runs on gathered logits: the whole vocabulary on every tensor-parallel rank.
void add_gathered_loss(const describe::Job& job, const workload::Stage& stage,
                       const workload::Shard& shard, const cost::DeviceModel& device,
                       RankTime& time) {
  const double others = static_cast<double>(shard.tp) - 1.0;
  for (const cost::OperatorTime& one :
       cost::microbatch_times(workload::stage_operators(job, stage, shard), device)) {
    if (one.op.part != workload::Part::kLoss) {
      continue;
    }
    if (one.op.pass == workload::Pass::kForward) {
      time.forward.device += one.total() * others;
      time.forward.tail += one.total() * others;
    } else {
      time.backward.device += one.total() * others;
    }
  }
}

}  // namespace

Result<const describe::HostFacts*> StepPredictor::host() {
  if (!host_) {
    SEXTANT_TRY(host_, describe::host_facts(data_));
  }
  return &*host_;
}

Result<Prediction> StepPredictor::train_step(const SingleDeviceSubject& subject,
                                             const std::string& quantity) {
  const auto loop = loop_of(subject.optimizer_implementation);
  if (!loop) {
    return invalid(fmt::format("optimizer implementation {} is not modelled",
                               subject.optimizer_implementation),
                   "");
  }
  const describe::Job& job = *subject.job;
  SEXTANT_TRY(const machine::DeviceModels::Known* device, devices_.of(job.cluster.device, kSdpa));
  SEXTANT_TRY(const describe::HostFacts* host_facts, host());
  const RankTime time =
      cost::rank_time(job, job.layout, workload::stages_of(job).front(), workload::shard_of(job),
                      {.device = device->model, .host = *host_facts, .update = *loop});
  RankClock clock;
  clock.run(time.forward);
  const Seconds forward = clock.now();
  clock.run(time.backward);
  const Seconds backward = clock.now();
  clock.run(time.update);
  if (quantity == "fwd_ms") {
    return step_prediction(forward, *device);
  }
  if (quantity == "bwd_ms") {
    return step_prediction(backward - forward, *device);
  }
  return step_prediction(quantity == "opt_ms" ? clock.now() - backward : clock.now(), *device);
}

Result<Prediction> StepPredictor::rank_compute(const RankComputeSubject& subject,
                                               const std::string& quantity) {
  const describe::Job& job = *subject.job;
  SEXTANT_TRY(const machine::DeviceModels::Known* device, devices_.of(job.cluster.device, kSdpa));
  SEXTANT_TRY(const describe::HostFacts* host_facts, host());
  const workload::Shard shard = workload::shard_of(job);
  const workload::Stage stage = workload::stages_of(job).front();
  RankTime time = cost::rank_time(job, job.layout, stage, shard,
                                  {.device = device->model, .host = *host_facts});
  add_copies_of_gathers(job, shard, *host_facts, time);
  add_gathered_loss(job, stage, shard, device->model, time);
  RankClock clock;
  clock.run(time.forward);
  const Seconds forward = clock.now();
  clock.run(time.backward);
  if (quantity == "fwd_ms") {
    return step_prediction(forward, *device);
  }
  // The tables' phases add up to their steps: the backward is what the forward leaves.
  return step_prediction(quantity == "bwd_ms" ? clock.now() - forward : clock.now(), *device);
}

Answer StepPredictor::operator()(const measured::Row& row) {
  const auto answer = [](Result<Prediction> made) -> Answer {
    return made ? Answer(std::move(*made)) : Answer(Refusal{made.error().what});
  };
  const auto* step = std::get_if<SingleDeviceSubject>(&row.subject);
  if (step != nullptr && row.table == measured::TableKind::kTrainSteps) {
    return answer(train_step(*step, row.quantity));
  }
  if (const auto* rank = std::get_if<RankComputeSubject>(&row.subject)) {
    return answer(rank_compute(*rank, row.quantity));
  }
  return Refusal{"not modelled yet"};
}

}  // namespace sextant::validate
