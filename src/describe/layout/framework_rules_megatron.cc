// Megatron's rules about the layout, applied. Their words: rule_book_megatron.cc.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/integers.h"
#include "describe/layout/framework_rules_checks.h"
#include "describe/layout/rule_nearest.h"

namespace sextant::describe {
namespace {

// The first block whose mixer is a `Part` of which `fails` holds, or nothing.
template <typename Part, typename Fails>
const Part* first_mixer(const Model& model, const Fails& fails) {
  for (const Block& block : model.blocks) {
    const auto* part = std::get_if<Part>(&block.mixer);
    if (part != nullptr && fails(*part)) {
      return part;
    }
  }
  return nullptr;
}

bool recomputes(const Layout& at, RecomputeModule module) {
  const auto& modules = at.recompute.modules;
  return std::find(modules.begin(), modules.end(), module) != modules.end();
}

// --- context parallelism ---

bool breaks_cp_hierarchy(const Job& job) {
  const Layout& at = job.layout;
  return at.cp > 1 && at.cp_method == CpMethod::kAllToAllP2p && at.cp_inner > 0 &&
         at.cp % at.cp_inner != 0;
}

Saying say_cp_hierarchy(const Job& job) {
  return {
      fmt::format("an inner group of {} does not divide cp={}", job.layout.cp_inner, job.layout.cp),
      nearest_divisors("cp_inner", job.layout.cp, job.layout.cp_inner)};
}

// Only what the core rule lets pass: an all-to-all sequence of an odd number of shares.
bool breaks_seq_cp(const Job& job) {
  const Layout& at = job.layout;
  return at.cp > 1 && at.cp_method == CpMethod::kAllToAll && job.sequences.length % at.cp == 0 &&
         job.sequences.length % saturating_product({2, at.cp}) != 0;
}

Saying say_seq_cp(const Job& job) {
  return {
      fmt::format("a sequence of {} does not split into {} chunks (cp={})", job.sequences.length,
                  saturating_product({2, job.layout.cp}), job.layout.cp),
      nearest_divisors("cp", std::max<std::int64_t>(job.sequences.length / 2, 1), job.layout.cp)};
}

// --- experts ---

// The reason why the exchange cannot be overlapped, or nothing.
std::string_view why_no_ep_overlap(const Job& job) {
  const Layout& at = job.layout;
  if (at.ep == 1) {
    return "ep=1 has no exchange";
  }
  if (at.dispatcher == Dispatcher::kAllGather) {
    return "dispatcher=allgather does not split its exchange";
  }
  if (at.precision == Precision::kFp32 || at.precision == Precision::kTf32) {
    return "it runs in bf16 and fp16 only";
  }
  if (at.recompute.granularity == Recompute::kFull) {
    return "recompute=full repeats the exchange";
  }
  if (at.recompute.granularity == Recompute::kSelective && recomputes(at, RecomputeModule::kMoe)) {
    return "recomputing moe repeats the exchange";
  }
  if (job.model.mtp_layers > 1) {
    return "the model has more than one MTP layer";
  }
  return {};
}

bool breaks_ep_overlap(const Job& job) {
  return job.layout.overlaps(Overlap::kExpert) && !why_no_ep_overlap(job).empty();
}

Saying say_ep_overlap(const Job& job) {
  return {fmt::format("overlap=ep: {}", why_no_ep_overlap(job)), {"overlap without ep"}};
}

bool breaks_ep_overlap_vpp(const Job& job) {
  const Layout& at = job.layout;
  return at.overlaps(Overlap::kExpert) && at.pp > 1 && at.vpp == 1;
}

Saying say_ep_overlap_vpp(const Job& job) {
  return {fmt::format("overlap=ep with pp={} and vpp=1", job.layout.pp),
          {"vpp=2,schedule=interleaved-1f1b", "overlap without ep"}};
}

bool breaks_expert_bias(const Job& job) {
  return job.layout.etp > 1 &&
         std::any_of(job.model.blocks.begin(), job.model.blocks.end(), [](const Block& block) {
           const auto* moe = std::get_if<MoeFfn>(&block.ffn);
           return moe != nullptr && moe->expert_bias;
         });
}

Saying say_expert_bias(const Job& job) {
  return {fmt::format("etp={} on experts with biases", job.layout.etp), {"etp=1"}};
}

bool breaks_expert_dp_order(const Job& job) {
  const Layout& at = job.layout;
  return at.pp > 1 && at.order.back() != Axis::kPp && has_experts(job.model) && job.dp() > 0 &&
         saturating_product({at.tp, at.cp}) != saturating_product({at.ep, at.etp});
}

Saying say_expert_dp_order(const Job& job) {
  const Layout& at = job.layout;
  return {fmt::format("pp is not the last axis, and ep={} * etp={} leaves the experts a data "
                      "parallelism other than dp={}",
                      at.ep, at.etp, job.dp()),
          {"order=tp-cp-ep-dp-pp",
           fmt::format("ep={}",
                       std::max<std::int64_t>(saturating_product({at.tp, at.cp}) / at.etp, 1))}};
}

bool breaks_moe_tp_sp(const Job& job) {
  return job.layout.tp > 1 && !job.layout.sp && has_experts(job.model) &&
         job.workload != Workload::kForward;
}

Saying say_moe_tp_sp(const Job& job) {
  return {fmt::format("tp={} without sp on a model with experts", job.layout.tp), {"sp=1", "tp=1"}};
}

// --- sharding and overlap ---

bool breaks_fsdp(const Job& job) {
  const OptimizerKind kind = job.layout.optimizer.kind;
  return job.layout.zero >= Zero::kGradients && kind != OptimizerKind::kAdam &&
         kind != OptimizerKind::kSgd;
}

Saying say_fsdp(const Job& job) {
  return {fmt::format("optimizer={} with zero={}",
                      word_of<OptimizerKind>(kOptimizerWords, job.layout.optimizer.kind),
                      word_of<Zero>(kZeroWords, job.layout.zero)),
          {"optimizer=adam", "zero=1"}};
}

bool breaks_fp8_gather(const Job& job) {
  return job.layout.parameters == Storage::kFp8 && job.layout.zero == Zero::kNone;
}

Saying say_fp8_gather(const Job& /*job*/) {
  return {"parameters=fp8 with zero=0", {"zero=1", "parameters=bf16"}};
}

bool breaks_param_gather(const Job& job) {
  const Layout& at = job.layout;
  return at.overlaps(Overlap::kParamGather) &&
         (!at.overlaps(Overlap::kGradReduce) || at.zero == Zero::kNone);
}

Saying say_param_gather(const Job& job) {
  return job.layout.zero == Zero::kNone ? Saying{"overlap=param_gather with zero=0",
                                                 {"zero=1", "overlap without param_gather"}}
                                        : Saying{"overlap=param_gather without grad_reduce",
                                                 {"overlap=grad_reduce+param_gather"}};
}

bool breaks_tp_overlap(const Job& job) {
  return job.layout.overlaps(Overlap::kTensorParallel) && !job.layout.sp;
}

Saying say_tp_overlap(const Job& job) {
  return {fmt::format("overlap=tp with sp=0 (tp={})", job.layout.tp),
          {"sp=1", "overlap without tp"}};
}

// --- recurrent layers ---

// A key-head count that tp itself does not divide is HEADS-TP's.
const GatedDeltaNet* uneven_delta(const Job& job) {
  const std::int64_t ranks = saturating_product({job.layout.tp, job.layout.cp});
  return first_mixer<GatedDeltaNet>(job.model, [&](const GatedDeltaNet& delta) {
    return delta.key_heads % job.layout.tp == 0 &&
           (delta.key_heads % ranks != 0 || delta.value_heads % ranks != 0);
  });
}

bool breaks_gdn(const Job& job) {
  return uneven_delta(job) != nullptr;
}

Saying say_gdn(const Job& job) {
  const GatedDeltaNet& delta = *uneven_delta(job);
  const Layout& at = job.layout;
  return {fmt::format("tp={} * cp={} does not divide {} key heads and {} value heads", at.tp, at.cp,
                      delta.key_heads, delta.value_heads),
          nearest_divisors("cp", std::max<std::int64_t>(delta.key_heads / at.tp, 1), at.cp)};
}

bool is_fp8_or_fp4(Precision precision) {
  return precision == Precision::kFp8 || precision == Precision::kMxfp8 ||
         precision == Precision::kNvfp4;
}

const Mamba2* uneven_mamba(const Job& job) {
  constexpr std::int64_t kFp8Multiple = 16;  // mamba_mixer.py's own
  return first_mixer<Mamba2>(job.model, [&](const Mamba2& mamba) {
    const std::int64_t width = 2 * mamba.inner() + 2 * mamba.groups * mamba.state + mamba.heads;
    return mamba.groups % job.layout.tp != 0 ||
           mamba.heads % std::max<std::int64_t>(mamba.groups, 1) != 0 ||
           (is_fp8_or_fp4(job.layout.precision) && width % kFp8Multiple != 0);
  });
}

bool breaks_mamba(const Job& job) {
  return uneven_mamba(job) != nullptr;
}

Saying say_mamba(const Job& job) {
  const Mamba2& mamba = *uneven_mamba(job);
  return {fmt::format("{} Mamba groups and {} heads with tp={} and precision={}", mamba.groups,
                      mamba.heads, job.layout.tp,
                      word_of<Precision>(kPrecisionWords, job.layout.precision)),
          nearest_divisors("tp", std::max<std::int64_t>(mamba.groups, 1), job.layout.tp)};
}

// --- pipeline ---

bool breaks_p2p_overlap(const Job& job) {
  const Layout& at = job.layout;
  return at.pp > 1 && at.vpp == 1 && at.overlaps(Overlap::kPipeline);
}

Saying say_p2p_overlap(const Job& /*job*/) {
  return {"overlap=p2p with vpp=1 is switched off", {"overlap without p2p"}};
}

bool breaks_vpp_microbatches(const Job& job) {
  const std::int64_t microbatches = job.microbatches();
  return job.layout.vpp > 1 && job.layout.pp > 1 && microbatches > 0 &&
         microbatches % job.layout.pp != 0;
}

Saying say_vpp_microbatches(const Job& job) {
  const Layout& at = job.layout;
  Saying said{
      fmt::format("{} microbatches are no multiple of pp={} (vpp={})", job.microbatches(), at.pp,
                  at.vpp),
      nearest_multiples("gbs", saturating_product({at.pp, at.mbs, job.dp()}), job.global_batch)};
  said.nearest.emplace_back("vpp=1,schedule=1f1b");
  return said;
}

bool breaks_vpp_pp(const Job& job) {
  const Layout& at = job.layout;
  return at.vpp > 1 && at.pp == 2 && !at.overlaps(Overlap::kPipeline);
}

Saying say_vpp_pp(const Job& job) {
  return {fmt::format("vpp={} on pp=2 without overlap=p2p", job.layout.vpp),
          {"overlap with p2p", "vpp=1,schedule=1f1b"}};
}

constexpr std::array kMegatronChecks{
    FrameworkCheck{"EP-DOMAIN", Severity::kNote, experts_leave_domain, say_experts_leave_domain},
    FrameworkCheck{"MEGATRON-BATCH-MICRO", Severity::kIllegal, has_smaller_last_microbatch,
                   say_smaller_last_microbatch},
    FrameworkCheck{"MEGATRON-CP-HIERARCHY", Severity::kIllegal, breaks_cp_hierarchy,
                   say_cp_hierarchy},
    FrameworkCheck{"MEGATRON-EP-OVERLAP", Severity::kIllegal, breaks_ep_overlap, say_ep_overlap},
    FrameworkCheck{"MEGATRON-EP-OVERLAP-VPP", Severity::kIllegal, breaks_ep_overlap_vpp,
                   say_ep_overlap_vpp},
    FrameworkCheck{"MEGATRON-EXPERT-BIAS-ETP", Severity::kIllegal, breaks_expert_bias,
                   say_expert_bias},
    FrameworkCheck{"MEGATRON-EXPERT-DP-ORDER", Severity::kIllegal, breaks_expert_dp_order,
                   say_expert_dp_order},
    FrameworkCheck{"MEGATRON-FP8-GATHER", Severity::kIllegal, breaks_fp8_gather, say_fp8_gather},
    FrameworkCheck{"MEGATRON-FSDP", Severity::kIllegal, breaks_fsdp, say_fsdp},
    FrameworkCheck{"MEGATRON-GDN-HEADS", Severity::kIllegal, breaks_gdn, say_gdn},
    FrameworkCheck{"MEGATRON-MAMBA-GROUPS", Severity::kIllegal, breaks_mamba, say_mamba},
    FrameworkCheck{"MEGATRON-MOE-TP-SP", Severity::kIllegal, breaks_moe_tp_sp, say_moe_tp_sp},
    FrameworkCheck{"MEGATRON-P2P-OVERLAP", Severity::kRisk, breaks_p2p_overlap, say_p2p_overlap},
    FrameworkCheck{"MEGATRON-PARAM-GATHER", Severity::kIllegal, breaks_param_gather,
                   say_param_gather},
    FrameworkCheck{"MEGATRON-SEQ-CP", Severity::kIllegal, breaks_seq_cp, say_seq_cp},
    FrameworkCheck{"MEGATRON-TP-OVERLAP-SP", Severity::kIllegal, breaks_tp_overlap, say_tp_overlap},
    FrameworkCheck{"MEGATRON-VPP-MICROBATCHES", Severity::kIllegal, breaks_vpp_microbatches,
                   say_vpp_microbatches},
    FrameworkCheck{"MEGATRON-VPP-PP", Severity::kIllegal, breaks_vpp_pp, say_vpp_pp},
};

}  // namespace

std::span<const FrameworkCheck> megatron_checks() {
  return kMegatronChecks;
}

}  // namespace sextant::describe
