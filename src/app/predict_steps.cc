#include "app/predict_steps.h"

#include <fmt/format.h>

#include "workload/operators.h"
#include "workload/shard.h"
#include "workload/stages.h"

namespace sextant::app {
namespace {

using cost::PhaseTime;
using cost::RankClock;
using cost::RankTime;
using cost::UpdateLoop;
using measured::Answer;
using measured::Prediction;
using measured::RankComputeSubject;
using measured::Refusal;
using measured::SingleDeviceSubject;

Seconds alone(const PhaseTime& phase) {
  RankClock clock;
  clock.run(phase);
  return clock.now();
}

Prediction prediction_of(Seconds value, std::initializer_list<std::string> assumed) {
  Prediction prediction{value / 1_ms, std::nullopt, {}};
  for (const std::string& text : assumed) {
    if (!text.empty()) {
      prediction.assumed.push_back(text);
    }
  }
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
  constexpr Seconds kOnDevice = 6.5_us;  // shared with the kernels it runs beside
  time.forward.device += kOnDevice * copies_of_all;
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

Result<const StepPredictor::Known*> StepPredictor::known(const describe::Device& device) {
  if (const auto found = models_.find(device.id); found != models_.end()) {
    return &found->second;
  }
  SEXTANT_TRY(const describe::KernelFacts facts, describe::kernel_facts(data_, device));
  // What PyTorch picks for attention on Hopper.
  Known made{cost::device_model(facts, device, describe::AttentionKernel::kCudnn), {}};
  if (facts.scaled) {
    made.assumed = fmt::format("kernels of {} scaled to {}", facts.measured_on, device.id);
  }
  return &models_.emplace(device.id, std::move(made)).first->second;
}

Result<const describe::HostFacts*> StepPredictor::host() {
  if (!host_) {
    SEXTANT_TRY(host_, describe::host_facts(data_));
  }
  return &*host_;
}

Answer StepPredictor::train_step(const SingleDeviceSubject& subject, const std::string& quantity) {
  const auto loop = loop_of(subject.optimizer_implementation);
  if (!loop) {
    return Refusal{fmt::format("optimizer implementation {} is not modelled",
                               subject.optimizer_implementation)};
  }
  const describe::Job& job = *subject.job;
  const auto device = known(job.cluster.device);
  const auto host_facts = host();
  if (!device || !host_facts) {
    return Refusal{!device ? device.error().what : host_facts.error().what};
  }
  const workload::Shard shard = workload::shard_of(job);
  const workload::Stage stage = workload::stages_of(job).front();
  const RankTime time =
      cost::rank_time(job, job.layout, stage, shard,
                      {.device = (*device)->model, .host = **host_facts, .update = *loop});
  const std::string host_assumed = "a host as fast as the measured one";
  const std::string& device_assumed = (*device)->assumed;
  if (quantity == "step_ms_median") {
    return prediction_of(cost::step_time(time, 1), {device_assumed, host_assumed});
  }
  RankClock clock;
  clock.run(time.forward);
  const Seconds forward = clock.now();
  if (quantity == "fwd_ms") {
    return prediction_of(forward, {device_assumed, host_assumed});
  }
  clock.run(time.backward);
  const Seconds backward = clock.now();
  if (quantity == "bwd_ms") {
    return prediction_of(backward - forward, {device_assumed, host_assumed});
  }
  clock.run(time.update);
  if (quantity == "opt_ms") {
    return prediction_of(clock.now() - backward, {device_assumed, host_assumed});
  }
  return Refusal{"not modelled yet"};
}

Answer StepPredictor::rank_compute(const RankComputeSubject& subject, const std::string& quantity) {
  const describe::Job& job = *subject.job;
  const auto device = known(job.cluster.device);
  const auto host_facts = host();
  if (!device || !host_facts) {
    return Refusal{!device ? device.error().what : host_facts.error().what};
  }
  const workload::Shard shard = workload::shard_of(job);
  const workload::Stage stage = workload::stages_of(job).front();
  RankTime time = cost::rank_time(job, job.layout, stage, shard,
                                  {.device = (*device)->model, .host = **host_facts});
  add_copies_of_gathers(job, shard, **host_facts, time);
  add_gathered_loss(job, stage, shard, (*device)->model, time);
  time.update = {};
  const std::string host_assumed = "a host as fast as the measured one";
  const std::string& device_assumed = (*device)->assumed;
  if (quantity == "fwd_ms") {
    return prediction_of(alone(time.forward), {device_assumed, host_assumed});
  }
  if (quantity == "bwd_ms") {
    // The tables' phases add up to their steps: the backward is what the forward leaves.
    return prediction_of(cost::step_time(time, 1) - alone(time.forward),
                         {device_assumed, host_assumed});
  }
  return prediction_of(cost::step_time(time, 1), {device_assumed, host_assumed});
}

Answer StepPredictor::operator()(const measured::Row& row) {
  if (const auto* subject = std::get_if<SingleDeviceSubject>(&row.subject)) {
    if (row.table == measured::TableKind::kTrainSteps) {
      return train_step(*subject, row.quantity);
    }
  }
  if (const auto* subject = std::get_if<RankComputeSubject>(&row.subject)) {
    return rank_compute(*subject, row.quantity);
  }
  return Refusal{"not modelled yet"};
}

}  // namespace sextant::app
