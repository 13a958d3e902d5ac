// torchtitan's rules about the layout, applied. Their words: rule_book_torchtitan.cc.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/integers.h"
#include "describe/layout/framework_rules_checks.h"
#include "describe/layout/rule_nearest.h"

namespace sextant::describe {
namespace {

bool breaks_compile(const Job& job) {
  return job.layout.overlaps(Overlap::kTensorParallel) && job.layout.launch == Launch::kEager;
}

Saying say_compile(const Job& /*job*/) {
  return {"overlap=tp (asynchronous TP) with compile=0", {"compile=1", "overlap without tp"}};
}

bool breaks_context(const Job& job) {
  return job.model.max_positions > 0 && job.model.learned_positions == 0 &&
         job.sequences.length > job.model.max_positions;
}

Saying say_context(const Job& job) {
  return {fmt::format("a sequence of {} is longer than the model's {} positions",
                      job.sequences.length, job.model.max_positions),
          {fmt::format("seq={}", job.model.max_positions)}};
}

// Ranks that expert groups are cut from: those a shard is spread over, times tp.
std::int64_t lendable_ranks(const Job& job) {
  const Layout& at = job.layout;
  const std::int64_t sharded =
      at.zero_group > 0 ? at.zero_group : saturating_product({job.dp(), at.cp});
  return saturating_product({sharded, at.tp});
}

// Where ep does not divide all ranks of a stage either, EXPERT-WORLD says so.
bool breaks_ep_shard(const Job& job) {
  const Layout& at = job.layout;
  return at.ep > 1 && has_experts(job.model) && job.dp() > 0 &&
         saturating_product({at.tp, at.cp, job.dp()}) % at.ep == 0 &&
         lendable_ranks(job) % at.ep != 0;
}

Saying say_ep_shard(const Job& job) {
  return {fmt::format("ep={} does not divide the {} ranks of dp_shard * cp * tp", job.layout.ep,
                      lendable_ranks(job)),
          nearest_divisors("ep", lendable_ranks(job), job.layout.ep)};
}

bool has_few_microbatches(const Job& job) {
  const std::int64_t microbatches = job.microbatches();
  return job.layout.pp > 1 && microbatches > 0 && microbatches < job.layout.stages();
}

bool is_refused_for_few(const Job& job) {
  return has_few_microbatches(job) && job.layout.vpp == 1;
}

bool runs_with_few(const Job& job) {
  return has_few_microbatches(job) && job.layout.vpp > 1;
}

Saying say_few_microbatches(const Job& job) {
  const Layout& at = job.layout;
  return {fmt::format("{} microbatches for {} stages", job.microbatches(), at.stages()),
          {fmt::format("gbs={}", saturating_product({at.stages(), at.mbs, job.dp()}))}};
}

bool breaks_graphs(const Job& job) {
  return job.layout.launch == Launch::kCudaGraph && job.layout.pp > 1;
}

Saying say_graphs(const Job& job) {
  return {fmt::format("compile=cuda-graph with pp={}", job.layout.pp), {"compile=1", "pp=1"}};
}

bool breaks_tied(const Job& job) {
  return job.model.tied_head && job.layout.pp > 1;
}

Saying say_tied(const Job& job) {
  return {
      fmt::format("{} ties its head to its embedding, with pp={}", job.model.name, job.layout.pp),
      {"pp=1"}};
}

std::int64_t token_shares(const Layout& at) {
  return saturating_product({at.sp ? at.tp : 1, at.cp > 1 ? saturating_product({2, at.cp}) : 1});
}

// Only what the core rules let pass.
bool breaks_tokens(const Job& job) {
  const Layout& at = job.layout;
  const std::int64_t length = job.sequences.length;
  const bool core_holds = length % (at.cp_method == CpMethod::kAllToAll || at.cp == 1
                                        ? at.cp
                                        : saturating_product({2, at.cp})) ==
                              0 &&
                          (!at.sp || (length / at.cp) % at.tp == 0);
  return core_holds && saturating_product({at.mbs, length}) % token_shares(at) != 0;
}

Saying say_tokens(const Job& job) {
  const Layout& at = job.layout;
  return {fmt::format("{} tokens of a microbatch do not divide into {} shares (tp={}, cp={})",
                      saturating_product({at.mbs, job.sequences.length}), token_shares(at), at.tp,
                      at.cp),
          {fmt::format("cp={}", std::max<std::int64_t>(at.cp / 2, 1))}};
}

constexpr std::array kTorchtitanChecks{
    FrameworkCheck{"EP-DOMAIN", Severity::kNote, experts_leave_domain, say_experts_leave_domain},
    FrameworkCheck{"TORCHTITAN-BATCH-MICRO", Severity::kIllegal, has_smaller_last_microbatch,
                   say_smaller_last_microbatch},
    FrameworkCheck{"TORCHTITAN-COMPILE", Severity::kIllegal, breaks_compile, say_compile},
    FrameworkCheck{"TORCHTITAN-CONTEXT", Severity::kIllegal, breaks_context, say_context},
    FrameworkCheck{"TORCHTITAN-EP-SHARD", Severity::kIllegal, breaks_ep_shard, say_ep_shard},
    FrameworkCheck{"TORCHTITAN-FEW-MICROBATCHES", Severity::kIllegal, is_refused_for_few,
                   say_few_microbatches},
    FrameworkCheck{"TORCHTITAN-FEW-MICROBATCHES", Severity::kRisk, runs_with_few,
                   say_few_microbatches},
    FrameworkCheck{"TORCHTITAN-GRAPHS", Severity::kIllegal, breaks_graphs, say_graphs},
    FrameworkCheck{"TORCHTITAN-KV-HEADS-TP", Severity::kIllegal, replicates_kv_heads,
                   say_replicated_kv_heads},
    FrameworkCheck{"TORCHTITAN-NO-ETP", Severity::kIllegal, splits_experts, say_split_experts},
    FrameworkCheck{"TORCHTITAN-TIED-PP", Severity::kIllegal, breaks_tied, say_tied},
    FrameworkCheck{"TORCHTITAN-TOKENS", Severity::kIllegal, breaks_tokens, say_tokens},
};

}  // namespace

std::span<const FrameworkCheck> torchtitan_checks() {
  return kTorchtitanChecks;
}

}  // namespace sextant::describe
