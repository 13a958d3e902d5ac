// What every framework asks of devices, and which axes, schedules and formats each has at all.
// Their words: rule_book_device.cc.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "describe/cluster/torus.h"
#include "describe/layout/framework_rules.h"
#include "describe/layout/framework_rules_checks.h"

namespace sextant::describe {

bool leaves_domain(const Cluster& cluster, std::int64_t tp) {
  return tp > std::max<std::int64_t>(cluster.system.domain_size.value, 1);
}

namespace {

std::string_view framework_word(const Job& job) {
  return word_of<Framework>(kFrameworkWords, job.framework);
}

bool runs_megatron(const Job& job) {
  return job.framework == Framework::kMegatronCore ||
         job.framework == Framework::kMegatronDeepspeed;
}

// NVIDIA's before compute capability 8.0.
bool is_before_ampere(const Device& device) {
  constexpr std::array<std::string_view, 2> kOlder{"volta", "turing"};
  return std::find(kOlder.begin(), kOlder.end(), device.generation) != kOlder.end();
}

// --- devices ---

bool runs_on_gpus_only(Framework framework) {
  return framework != Framework::kMaxtext && framework != Framework::kAccelerate &&
         framework != Framework::kOther;
}

bool breaks_framework_device(const Job& job) {
  return is_torus(job.cluster) && runs_on_gpus_only(job.framework);
}

Saying say_framework_device(const Job& job) {
  return {fmt::format("{} on {}", framework_word(job), job.cluster.device.name),
          {"‹framework› maxtext"}};
}

bool breaks_attention_device(const Job& job) {
  const AttentionKernel kernel = job.layout.attention;
  return job.states("attention") && is_before_ampere(job.cluster.device) &&
         (kernel == AttentionKernel::kFlash || kernel == AttentionKernel::kCudnn);
}

Saying say_attention_device(const Job& job) {
  return {fmt::format("attention={} on {}",
                      word_of<AttentionKernel>(kAttentionKernelWords, job.layout.attention),
                      job.cluster.device.name),
          {"attention=fused-softmax", "attention=eager"}};
}

// The devices that scale 8-bit products by blocks are those that multiply 4-bit ones.
bool breaks_mxfp8_device(const Job& job) {
  return job.layout.precision == Precision::kMxfp8 && !job.cluster.device.peak(DType::kFp4);
}

Saying say_mxfp8_device(const Job& job) {
  return {fmt::format("{} has no block-scaled 8-bit products", job.cluster.device.name),
          {"precision=fp8", "precision=bf16"}};
}

bool breaks_tp_overlap_device(const Job& job) {
  return runs_megatron(job) && job.layout.overlaps(Overlap::kTensorParallel) &&
         is_before_ampere(job.cluster.device);
}

Saying say_tp_overlap_device(const Job& job) {
  return {fmt::format("overlap=tp on {}", job.cluster.device.name), {"overlap without tp"}};
}

bool breaks_tp_overlap_domain(const Job& job) {
  const bool own = runs_megatron(job) || job.framework == Framework::kTorchtitan;
  return own && job.layout.overlaps(Overlap::kTensorParallel) && !is_torus(job.cluster) &&
         leaves_domain(job.cluster, job.layout.tp);
}

Saying say_tp_overlap_domain(const Job& job) {
  const std::int64_t domain = std::max<std::int64_t>(job.cluster.system.domain_size.value, 1);
  return {fmt::format("overlap=tp with tp={} in scale-up domains of {}", job.layout.tp, domain),
          {fmt::format("tp={}", domain), "overlap without tp"}};
}

// --- what a framework has ---

bool breaks_precision_framework(const Job& job) {
  return job.layout.precision == Precision::kInt8 && job.framework != Framework::kMaxtext &&
         job.framework != Framework::kOther;
}

Saying say_precision_framework(const Job& job) {
  return {fmt::format("{} does not train in int8", framework_word(job)), {"precision=bf16"}};
}

bool breaks_framework_axes(const Job& job) {
  const Layout& at = job.layout;
  switch (job.framework) {
    case Framework::kAccelerate:
      return at.pp > 1;
    case Framework::kFsdp1:
      return at.pp > 1 || at.tp > 1 || at.cp > 1 || at.ep > 1;
    case Framework::kMegatronCore:
    case Framework::kMegatronDeepspeed:
    case Framework::kTorchtitan:
    case Framework::kDeepspeed:
    case Framework::kMaxtext:
    case Framework::kNanotron:
    case Framework::kOther:
      break;
  }
  return false;
}

Saying say_framework_axes(const Job& job) {
  const Layout& at = job.layout;
  return {fmt::format("{} with tp={}, cp={}, pp={}, ep={}", framework_word(job), at.tp, at.cp,
                      at.pp, at.ep),
          {job.framework == Framework::kAccelerate ? "pp=1" : "tp=1,cp=1,pp=1,ep=1"}};
}

bool has_schedule(Framework framework, Schedule schedule) {
  const bool plain = schedule == Schedule::k1f1b;
  const bool interleaved = schedule == Schedule::kInterleaved1f1b;
  switch (framework) {
    case Framework::kMegatronCore:
      return plain || interleaved;
    case Framework::kMegatronDeepspeed:
    case Framework::kDeepspeed:
      return plain;
    case Framework::kTorchtitan:
      return schedule != Schedule::kDualPipe;
    case Framework::kMaxtext:
      return plain || interleaved || schedule == Schedule::kGpipe ||
             schedule == Schedule::kLoopedBfs;
    case Framework::kFsdp1:
    case Framework::kAccelerate:
    case Framework::kNanotron:  // NANOTRON-SCHEDULE
    case Framework::kOther:
      break;
  }
  return true;
}

bool breaks_schedule_framework(const Job& job) {
  return job.layout.pp > 1 && !has_schedule(job.framework, job.layout.schedule);
}

Saying say_schedule_framework(const Job& job) {
  return {fmt::format("{} does not run schedule={}", framework_word(job),
                      word_of<Schedule>(kScheduleWords, job.layout.schedule)),
          {"schedule=1f1b,vpp=1"}};
}

constexpr std::array kEveryFramework{
    FrameworkCheck{"ATTENTION-DEVICE", Severity::kIllegal, breaks_attention_device,
                   say_attention_device},
    FrameworkCheck{"FRAMEWORK-AXES", Severity::kIllegal, breaks_framework_axes, say_framework_axes},
    FrameworkCheck{"FRAMEWORK-DEVICE", Severity::kIllegal, breaks_framework_device,
                   say_framework_device},
    FrameworkCheck{"MXFP8-DEVICE", Severity::kIllegal, breaks_mxfp8_device, say_mxfp8_device},
    FrameworkCheck{"PRECISION-FRAMEWORK", Severity::kIllegal, breaks_precision_framework,
                   say_precision_framework},
    FrameworkCheck{"SCHEDULE-FRAMEWORK", Severity::kIllegal, breaks_schedule_framework,
                   say_schedule_framework},
    FrameworkCheck{"TP-OVERLAP-DEVICE", Severity::kIllegal, breaks_tp_overlap_device,
                   say_tp_overlap_device},
    FrameworkCheck{"TP-OVERLAP-DOMAIN", Severity::kIllegal, breaks_tp_overlap_domain,
                   say_tp_overlap_domain},
};

}  // namespace

std::span<const FrameworkCheck> every_framework_checks() {
  return kEveryFramework;
}

}  // namespace sextant::describe
