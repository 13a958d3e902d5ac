// Rules of DeepSpeed, MaxText, Accelerate and nanotron about the layout, applied. Their words:
// rule_book_others.cc.
#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "base/integers.h"
#include "describe/layout/framework_rules_checks.h"
#include "describe/layout/rule_nearest.h"

namespace sextant::describe {
namespace {

// --- DeepSpeed ---

bool breaks_zero_pp(const Job& job) {
  return job.layout.pp > 1 && job.layout.zero >= Zero::kGradients;
}

Saying say_zero_pp(const Job& job) {
  return {
      fmt::format("zero={} with pp={}", word_of<Zero>(kZeroWords, job.layout.zero), job.layout.pp),
      {"zero=1", "pp=1"}};
}

constexpr std::array kDeepspeed{
    FrameworkCheck{"DEEPSPEED-BATCH", Severity::kIllegal, has_smaller_last_microbatch,
                   say_smaller_last_microbatch},
    FrameworkCheck{"DEEPSPEED-NO-ETP", Severity::kIllegal, splits_experts, say_split_experts},
    FrameworkCheck{"DEEPSPEED-ZERO-PP", Severity::kIllegal, breaks_zero_pp, say_zero_pp},
};

// Megatron-DeepSpeed has its own expert tensor parallelism.
constexpr std::array kMegatronDeepspeed{
    FrameworkCheck{"DEEPSPEED-BATCH", Severity::kIllegal, has_smaller_last_microbatch,
                   say_smaller_last_microbatch},
    FrameworkCheck{"DEEPSPEED-ZERO-PP", Severity::kIllegal, breaks_zero_pp, say_zero_pp},
};

// --- MaxText ---

// A split that works out (else LAYERS-STAGES says so) and is not the same on all stages. Asked here
// without layers_of_stages, which allocates.
bool breaks_layers(const Job& job) {
  const PipelineSplit& split = job.layout.split;
  const std::int64_t layers = job.model.layer_count();
  const std::int64_t stages = job.layout.stages();
  const auto& counts = split.layers_per_stage;
  if (!counts.empty()) {
    const bool uneven = std::any_of(counts.begin(), counts.end(),
                                    [&](std::int64_t count) { return count != counts.front(); });
    return uneven && static_cast<std::int64_t>(counts.size()) == stages &&
           std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == layers;
  }
  const std::int64_t counted = (split.count_embedding ? 1 : 0) + (split.count_loss ? 1 : 0);
  return counted > 0 && stages > 1 && (layers + counted) % stages == 0;
}

Saying say_layers(const Job& job) {
  return {fmt::format("{} layers are not the same number on each of {} stages",
                      job.model.layer_count(), job.layout.stages()),
          nearest_divisors("pp", job.model.layer_count(), job.layout.pp)};
}

bool breaks_microbatches(const Job& job) {
  const std::int64_t microbatches = job.microbatches();
  return job.layout.pp > 1 && microbatches > 0 && microbatches % job.layout.pp != 0;
}

Saying say_microbatches(const Job& job) {
  const Layout& at = job.layout;
  return {
      fmt::format("{} microbatches are no multiple of pp={}", job.microbatches(), at.pp),
      nearest_multiples("gbs", saturating_product({at.pp, at.mbs, job.dp()}), job.global_batch)};
}

constexpr std::array kMaxtext{
    FrameworkCheck{"MAXTEXT-BATCH-MICRO", Severity::kIllegal, has_smaller_last_microbatch,
                   say_smaller_last_microbatch},
    FrameworkCheck{"MAXTEXT-LAYERS", Severity::kIllegal, breaks_layers, say_layers},
    FrameworkCheck{"MAXTEXT-MICROBATCHES", Severity::kIllegal, breaks_microbatches,
                   say_microbatches},
};

// --- Accelerate ---

bool breaks_cp_sp(const Job& job) {
  return job.layout.cp > 1 && job.layout.cp_method == CpMethod::kAllToAllP2p;
}

Saying say_cp_sp(const Job& /*job*/) {
  return {"cp_method=a2a+p2p is context and sequence parallelism at once",
          {"cp_method=p2p", "cp_method=a2a"}};
}

// Shards that stay inside cp are no data-parallel shards.
bool breaks_ddp_tp(const Job& job) {
  const Layout& at = job.layout;
  const bool replicates = at.zero == Zero::kNone || (at.zero_group > 0 && at.zero_group <= at.cp);
  return job.dp() > 1 && replicates && (at.tp > 1 || at.cp > 1);
}

Saying say_ddp_tp(const Job& job) {
  return {fmt::format("dp={} replicas that share nothing, with tp={} and cp={}", job.dp(),
                      job.layout.tp, job.layout.cp),
          {"zero=3", "tp=1,cp=1"}};
}

constexpr std::array kAccelerate{
    FrameworkCheck{"ACCELERATE-BATCH-MICRO", Severity::kIllegal, has_smaller_last_microbatch,
                   say_smaller_last_microbatch},
    FrameworkCheck{"ACCELERATE-CP-SP", Severity::kIllegal, breaks_cp_sp, say_cp_sp},
    FrameworkCheck{"ACCELERATE-DDP-TP", Severity::kIllegal, breaks_ddp_tp, say_ddp_tp},
};

// --- nanotron ---

bool breaks_schedule(const Job& job) {
  const Layout& at = job.layout;
  return at.pp > 1 && at.schedule != Schedule::k1f1b && at.schedule != Schedule::kGpipe;
}

Saying say_schedule(const Job& job) {
  return {fmt::format("schedule={}", word_of<Schedule>(kScheduleWords, job.layout.schedule)),
          {"schedule=1f1b,vpp=1", "schedule=gpipe,vpp=1"}};
}

bool breaks_zero(const Job& job) {
  return job.layout.zero >= Zero::kGradients;
}

Saying say_zero(const Job& job) {
  return {fmt::format("zero={}", word_of<Zero>(kZeroWords, job.layout.zero)), {"zero=1"}};
}

constexpr std::array kNanotron{
    FrameworkCheck{"NANOTRON-BATCH-MICRO", Severity::kIllegal, has_smaller_last_microbatch,
                   say_smaller_last_microbatch},
    FrameworkCheck{"NANOTRON-KV-HEADS-TP", Severity::kIllegal, replicates_kv_heads,
                   say_replicated_kv_heads},
    FrameworkCheck{"NANOTRON-SCHEDULE", Severity::kIllegal, breaks_schedule, say_schedule},
    FrameworkCheck{"NANOTRON-ZERO", Severity::kIllegal, breaks_zero, say_zero},
};

}  // namespace

std::span<const FrameworkCheck> deepspeed_checks() {
  return kDeepspeed;
}
std::span<const FrameworkCheck> megatron_deepspeed_checks() {
  return kMegatronDeepspeed;
}
std::span<const FrameworkCheck> maxtext_checks() {
  return kMaxtext;
}
std::span<const FrameworkCheck> accelerate_checks() {
  return kAccelerate;
}
std::span<const FrameworkCheck> nanotron_checks() {
  return kNanotron;
}

}  // namespace sextant::describe
