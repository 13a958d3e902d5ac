// What the tests of traffic share: jobs, random legal jobs, and picking messages from a list.
#pragma once

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "describe/layout/rules.h"
#include "workload/operator_testing.h"
#include "workload/traffic.h"

namespace sextant::workload {

// `layers` of a Llama: heads of 128, as many kv heads as asked, gated feed-forward of 3.5 hidden.
inline describe::Model llama(std::int64_t layers, std::int64_t hidden, std::int64_t kv_heads) {
  constexpr std::int64_t kHeadDim = 128;
  describe::Model model;
  model.hidden = hidden;
  model.vocab = 128'000;
  model.norm = {.has_weight = true, .has_bias = false, .subtracts_mean = false};
  describe::Attention attention;
  attention.heads = hidden / kHeadDim;
  attention.kv_heads = kv_heads;
  attention.head_dim = kHeadDim;
  describe::Block block;
  block.mixer = attention;
  block.ffn = describe::DenseFfn{.width = hidden / 2 * 7, .gated = true, .bias = false};
  model.blocks.push_back(block);
  model.layers.assign(static_cast<std::size_t>(layers), 0);
  return model;
}

inline describe::Job traffic_job(describe::Model model, std::int64_t devices) {
  describe::Job job;
  job.model = std::move(model);
  for (auto& peak : job.cluster.device.peaks) {
    peak = describe::Sourced<FlopsPerSecond>{};
  }
  job.cluster.devices = devices;
  job.cluster.system.devices_per_node.value = 8;
  job.cluster.system.domain_size.value = 8;
  job.sequences.length = 4096;
  job.global_batch = devices;
  return job;
}

struct Asked {
  describe::CollectiveOp op = describe::CollectiveOp::kAllReduce;
  GroupKind group = GroupKind::kTp;
  std::optional<Phase> phase{};
  std::string_view what{};  // empty: any
};

inline std::vector<Collective> chosen(const std::vector<Collective>& list, const Asked& asked) {
  std::vector<Collective> found;
  for (const Collective& message : list) {
    if (message.op == asked.op && message.group == asked.group &&
        (!asked.phase || message.phase == *asked.phase) &&
        (asked.what.empty() || message.what == asked.what)) {
      found.push_back(message);
    }
  }
  return found;
}

inline std::int64_t calls(const std::vector<Collective>& list, const Asked& asked) {
  std::int64_t sum = 0;
  for (const Collective& message : chosen(list, asked)) {
    sum += message.count;
  }
  return sum;
}

inline Bytes payload(const std::vector<Collective>& list, const Asked& asked) {
  Bytes sum;
  for (const Collective& message : chosen(list, asked)) {
    sum += message.payload_bytes();
  }
  return sum;
}

template <typename T>
T picked(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

// A random job that the rules allow: any framework, axes of up to 8, all kinds of blocks.
inline describe::Job random_job() {
  using namespace describe;  // NOLINT(google-build-using-namespace): a test's own list of words
  const std::int64_t devices = picked<std::int64_t>({8, 16, 32, 64, 128});
  Job job = traffic_job(
      catalogue(picked<std::string>({"llama-3.1-8b", "deepseek-v2-lite", "qwen3-30b-a3b", "gpt2",
                                     "nemotron-h-8b", "qwen3-next-80b-a3b"})),
      devices);
  job.framework = picked({Framework::kMegatronCore, Framework::kTorchtitan, Framework::kFsdp1,
                          Framework::kDeepspeed, Framework::kMaxtext, Framework::kAccelerate});
  job.workload =
      picked({Workload::kPretrain, Workload::kPretrain, Workload::kForward, Workload::kLora});
  if (job.workload == Workload::kLora) {
    job.lora = Lora{};
  }
  Layout& layout = job.layout;
  layout.tp = picked<std::int64_t>({1, 2, 4});
  layout.sp = layout.tp > 1 && picked({true, false});
  layout.cp = picked<std::int64_t>({1, 1, 2});
  layout.cp_method = picked(
      {CpMethod::kP2pRing, CpMethod::kAllGather, CpMethod::kAllToAll, CpMethod::kAllToAllP2p});
  layout.pp = picked<std::int64_t>({1, 2, 4});
  layout.vpp = layout.pp > 1 ? picked<std::int64_t>({1, 2}) : 1;
  layout.schedule = layout.vpp == 1 ? picked({Schedule::k1f1b, Schedule::kDualPipe})
                                    : picked({Schedule::kInterleaved1f1b, Schedule::kZbv});
  layout.split = plausible_split(job.model.layer_count(), layout.stages());
  layout.ep = has_experts(job.model) ? picked<std::int64_t>({1, 2, 4}) : 1;
  layout.etp = has_experts(job.model) ? picked<std::int64_t>({1, 1, 2}) : 1;
  layout.dispatcher = picked({Dispatcher::kAllToAll, Dispatcher::kAllGather, Dispatcher::kDeepEp});
  layout.zero = picked({Zero::kNone, Zero::kOptimizer, Zero::kGradients, Zero::kParameters});
  layout.zero_group = picked<std::int64_t>({0, 0, 2});
  layout.recompute.granularity =
      picked({Recompute::kNone, Recompute::kFull, Recompute::kSelective});
  layout.recompute.method = picked({RecomputeMethod::kUniform, RecomputeMethod::kBlock});
  layout.recompute.layers = picked<std::int64_t>({0, 0, 3});
  if (layout.recompute.granularity == Recompute::kSelective) {
    layout.recompute.modules = picked<std::vector<RecomputeModule>>(
        {{},
         {RecomputeModule::kMlp},
         {RecomputeModule::kMoe},
         {RecomputeModule::kCoreAttention, RecomputeModule::kEverySecondLayer}});
  }
  layout.overlap = picked({std::vector<Overlap>{}, {Overlap::kGradReduce, Overlap::kParamGather}});
  layout.order = picked({Layout{}.order, {Axis::kTp, Axis::kEp, Axis::kDp, Axis::kCp, Axis::kPp}});
  job.sequences.length = job.model.learned_positions > 0 ? 1024 : 4096;
  job.global_batch = std::max<std::int64_t>(job.dp(), 1) * layout.mbs * 8;
  RC_PRE(check_rules(job).empty());
  return job;
}

}  // namespace sextant::workload
