#include "describe/layout/rules.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/integers.h"
#include "describe/layout/pipeline_split.h"
#include "describe/layout/precision.h"
#include "describe/layout/rule_nearest.h"

namespace sextant::describe {
namespace {

using Violations = std::vector<Violation>;

void check_world(const Job& job, Violations& found) {
  const Layout& at = job.layout;
  const std::int64_t model_ranks = saturating_product({at.tp, at.cp, at.pp});
  const std::int64_t devices = job.cluster.devices;
  if (job.dp() != 0 && saturating_product({model_ranks, job.dp()}) == devices) {
    return;
  }
  std::vector<std::string> nearest;
  if (devices % model_ranks == 0) {
    nearest.push_back(fmt::format("dp={}", devices / model_ranks));
  } else {
    const std::int64_t below = devices / model_ranks * model_ranks;
    if (below > 0) {
      nearest.push_back(fmt::format("devices={}", below));
    }
    nearest.push_back(
        fmt::format("devices={}", saturating_product({devices / model_ranks + 1, model_ranks})));
  }
  found.push_back({"WORLD-PRODUCT",
                   fmt::format("tp={} * cp={} * pp={}{} is not {} devices", at.tp, at.cp, at.pp,
                               at.dp > 0 ? fmt::format(" * dp={}", at.dp) : std::string(), devices),
                   std::move(nearest)});
}

void check_batch(const Job& job, Violations& found) {
  const std::int64_t dp = job.dp();
  if (dp == 0) {
    return;  // WORLD-PRODUCT says why
  }
  if (job.global_batch % dp != 0 || job.global_batch == 0) {
    const std::int64_t below = job.global_batch / dp * dp;
    std::vector<std::string> nearest;
    if (below > 0) {
      nearest.push_back(fmt::format("gbs={}", below));
    }
    nearest.push_back(fmt::format("gbs={}", below + dp));
    found.push_back(
        {"BATCH-DP",
         fmt::format("a global batch of {} does not divide over dp={}", job.global_batch, dp),
         std::move(nearest)});
    return;
  }
  const std::int64_t share = job.global_batch / dp;
  const bool uneven = share % job.layout.mbs != 0;
  if (uneven && (job.layout.pp > 1 || share < job.layout.mbs)) {
    found.push_back(
        {"BATCH-MICRO",
         fmt::format("mbs={} does not divide the {} sequences of a replica", job.layout.mbs, share),
         nearest_divisors("mbs", share, job.layout.mbs)});
  }
}

// One divisibility rule for every block that has the number: heads, widths.
struct Divides {
  std::string_view rule;
  std::string_view key;   // the layout key to change
  std::string_view what;  // what is divided
};

void check_divides(const Divides& rule, std::int64_t number, std::int64_t by, Violations& found) {
  if (number % by == 0) {
    return;
  }
  found.push_back({rule.rule,
                   fmt::format("{}={} does not divide {} {}", rule.key, by, number, rule.what),
                   nearest_divisors(rule.key, number, by)});
}

void check_attention(const Job& job, const Attention& attention, Violations& found) {
  const Layout& at = job.layout;
  check_divides({"HEADS-TP", "tp", "attention heads"}, attention.heads, at.tp, found);
  if (attention.kv_heads % at.tp != 0 && at.tp % attention.kv_heads != 0) {
    found.push_back({"KV-HEADS-TP",
                     fmt::format("tp={} neither divides nor is a multiple of {} kv heads", at.tp,
                                 attention.kv_heads),
                     nearest_divisors("tp", attention.kv_heads, at.tp)});
  }
}

void check_heads_over_cp(const Job& job, std::int64_t heads, Violations& found) {
  const Layout& at = job.layout;
  const bool ulysses =
      at.cp_method == CpMethod::kAllToAll || at.cp_method == CpMethod::kAllToAllP2p;
  if (at.cp == 1 || !ulysses || heads % at.tp != 0) {
    return;
  }
  const std::int64_t inner =
      at.cp_method == CpMethod::kAllToAllP2p && at.cp_inner > 0 ? at.cp_inner : at.cp;
  if (at.cp_method == CpMethod::kAllToAll || at.cp_inner > 0) {
    check_divides({"HEADS-CP", "cp", "heads of a tensor-parallel rank"}, heads / at.tp, inner,
                  found);
  }
}

void check_mixer(const Job& job, const Block& block, Violations& found) {
  const std::int64_t tp = job.layout.tp;
  if (const auto* attention = std::get_if<Attention>(&block.mixer)) {
    check_attention(job, *attention, found);
    check_heads_over_cp(job, attention->heads, found);
  } else if (const auto* latent = std::get_if<LatentAttention>(&block.mixer)) {
    check_divides({"HEADS-TP", "tp", "attention heads"}, latent->heads, tp, found);
    check_heads_over_cp(job, latent->heads, found);
  } else if (const auto* mamba = std::get_if<Mamba2>(&block.mixer)) {
    check_divides({"HEADS-TP", "tp", "Mamba heads"}, mamba->heads, tp, found);
  } else if (const auto* delta = std::get_if<GatedDeltaNet>(&block.mixer)) {
    check_divides({"HEADS-TP", "tp", "DeltaNet key heads"}, delta->key_heads, tp, found);
  }
}

void check_experts(const Job& job, const MoeFfn& moe, Violations& found) {
  const Layout& at = job.layout;
  check_divides({"EXPERTS-EP", "ep", "experts"}, moe.experts, at.ep, found);
  check_divides({"EXPERT-FFN-ETP", "etp", "of expert width"}, moe.width, at.etp, found);
  const std::int64_t groups = std::max<std::int64_t>(moe.groups, 1);
  if (moe.topk > moe.experts || moe.experts % groups != 0 || moe.topk_groups > groups) {
    found.push_back({"ROUTER-GROUPS",
                     fmt::format("top-{} of {} experts in {} groups, {} reachable", moe.topk,
                                 moe.experts, groups, moe.topk_groups),
                     {}});
  }
}

void check_blocks(const Job& job, Violations& found) {
  for (const Block& block : job.model.blocks) {
    check_mixer(job, block, found);
    if (const auto* dense = std::get_if<DenseFfn>(&block.ffn)) {
      check_divides({"FFN-TP", "tp", "of feed-forward width"}, dense->width, job.layout.tp, found);
    } else if (const auto* moe = std::get_if<MoeFfn>(&block.ffn)) {
      check_experts(job, *moe, found);
    }
  }
}

bool has_latent_attention(const Model& model) {
  return std::any_of(model.blocks.begin(), model.blocks.end(), [](const Block& block) {
    return std::holds_alternative<LatentAttention>(block.mixer);
  });
}

void check_expert_axes(const Job& job, Violations& found) {
  const Layout& at = job.layout;
  if (!has_experts(job.model)) {
    if (at.ep > 1 || at.etp > 1) {
      found.push_back({"EXPERTS-EP",
                       fmt::format("ep={}, etp={} on a model without experts", at.ep, at.etp),
                       {"ep=1,etp=1"}});
    }
    return;
  }
  const std::int64_t ranks = saturating_product({at.tp, at.cp, job.dp()});
  if (ranks == 0 || ranks % saturating_product({at.ep, at.etp}) == 0) {
    return;
  }
  found.push_back(
      {"EXPERT-WORLD",
       fmt::format("ep={} * etp={} does not divide the {} ranks of a stage", at.ep, at.etp, ranks),
       nearest_divisors("ep", std::max<std::int64_t>(ranks / at.etp, 1), at.ep)});
}

void check_pipeline(const Job& job, Violations& found) {
  const Layout& at = job.layout;
  if (!runs_chunks(at.schedule, at.vpp) || (at.pp == 1 && at.vpp > 1)) {
    found.push_back({"SCHEDULE-VPP",
                     fmt::format("schedule={} with vpp={} and pp={}",
                                 word_of<Schedule>(kScheduleWords, at.schedule), at.vpp, at.pp),
                     {at.pp == 1 ? "vpp=1,schedule=1f1b"
                                 : "vpp=1,schedule=1f1b or vpp>1,schedule=interleaved-1f1b"}});
  }
  const std::int64_t layers = job.model.layer_count();
  if (layers_of_stages(layers, at)) {
    return;
  }
  std::vector<std::string> nearest = nearest_divisors("pp", layers, at.pp);
  if ((layers + 2) % at.stages() == 0) {
    nearest.insert(nearest.begin(), "layers_per_stage=emb+loss");
  }
  found.push_back({"LAYERS-STAGES",
                   at.split.layers_per_stage.empty()
                       ? fmt::format("{} layers do not fill pp={} * vpp={} stages evenly", layers,
                                     at.pp, at.vpp)
                       : fmt::format("layers_per_stage names {} stages that do not hold {} layers "
                                     "on pp={} * vpp={}",
                                     at.split.layers_per_stage.size(), layers, at.pp, at.vpp),
                   std::move(nearest)});
}

void check_sequence(const Job& job, Violations& found) {
  const Layout& at = job.layout;
  const std::int64_t length = job.sequences.length;
  const std::int64_t chunks = at.cp_method == CpMethod::kAllToAll ? at.cp : 2 * at.cp;
  if (at.cp > 1 && length % chunks != 0) {
    found.push_back({"SEQ-CP",
                     fmt::format("a sequence of {} does not split into {} chunks (cp={})", length,
                                 chunks, at.cp),
                     nearest_divisors("cp", std::max<std::int64_t>(length / 2, 1), at.cp)});
  } else if (at.sp && (length / at.cp) % at.tp != 0) {
    found.push_back({"SEQ-SP",
                     fmt::format("tp={} does not divide the {} tokens of a context-parallel rank",
                                 at.tp, length / at.cp),
                     nearest_divisors("tp", length / at.cp, at.tp)});
  }
  if (at.sp && at.tp == 1) {
    // Megatron's own arguments switch it off and go on; everything else refuses.
    const bool switched_off = job.framework == Framework::kMegatronCore;
    found.push_back(
        {"SP-TP", "sp=1 with tp=1", {"sp=0"}, switched_off ? Severity::kRisk : Severity::kIllegal});
  }
  if (job.model.learned_positions > 0 && length > job.model.learned_positions) {
    found.push_back({"SEQ-POSITIONS",
                     fmt::format("a sequence of {} is longer than the {} learned positions", length,
                                 job.model.learned_positions),
                     {fmt::format("seq={}", job.model.learned_positions)}});
  }
}

void check_device(const Job& job, Violations& found) {
  const Device& device = job.cluster.device;
  if (device.peak(unit_of(job.layout.precision))) {
    return;
  }
  std::vector<std::string> nearest;
  for (const auto& [dtype, name] : kDTypeWords) {
    if (device.peak(dtype) && dtype != DType::kFp64) {
      nearest.push_back(fmt::format("precision={}", name));
    }
  }
  found.push_back({"PRECISION-DEVICE",
                   fmt::format("{} has no unit for {}", device.name,
                               word_of<Precision>(kPrecisionWords, job.layout.precision)),
                   std::move(nearest)});
}

void check_recompute(const Job& job, Violations& found) {
  const bool experts = has_experts(job.model);
  const bool latent = has_latent_attention(job.model);
  for (const RecomputeModule module : job.layout.recompute.modules) {
    const bool needs_experts = module == RecomputeModule::kMoe ||
                               module == RecomputeModule::kMoeActivation ||
                               module == RecomputeModule::kSharedExperts;
    if ((needs_experts && !experts) || (module == RecomputeModule::kMlaUpProjection && !latent)) {
      found.push_back({"RECOMPUTE-MODULE",
                       fmt::format("the model has no {}",
                                   word_of<RecomputeModule>(kRecomputeModuleWords, module)),
                       {}});
    }
  }
}

void check_sharding(const Job& job, Violations& found) {
  const Layout& at = job.layout;
  const std::int64_t ranks = saturating_product({job.dp(), at.cp});
  if (at.zero_group > 0 && ranks > 0 && ranks % at.zero_group != 0) {
    found.push_back(
        {"ZERO-GROUP",
         fmt::format("zero_group={} does not divide dp * cp = {}", at.zero_group, ranks),
         nearest_divisors("zero_group", ranks, at.zero_group)});
  }
  if (at.tp > job.model.vocab) {
    found.push_back({"VOCAB-TP",
                     fmt::format("tp={} is more than the vocabulary of {}", at.tp, job.model.vocab),
                     {fmt::format("tp={}", job.model.vocab)}});
  }
}

}  // namespace

bool runs_chunks(Schedule schedule, std::int64_t vpp) {
  switch (schedule) {
    case Schedule::kGpipe:
    case Schedule::k1f1b:
    case Schedule::kDualPipe:
      return vpp == 1;
    case Schedule::kInterleaved1f1b:
    case Schedule::kLoopedBfs:
    case Schedule::kInterleavedZeroBubble:
      return vpp > 1;
    case Schedule::kZbv:
    case Schedule::kDualPipeV:
      return vpp == 2;
  }
  return false;
}

std::vector<Violation> check_rules(const Job& job) {
  static constexpr std::array kChecks{check_world,       check_batch,     check_blocks,
                                      check_expert_axes, check_pipeline,  check_sequence,
                                      check_device,      check_recompute, check_sharding};
  Violations found;
  for (const auto check : kChecks) {
    check(job, found);
  }
  // One violation a rule and message is enough: blocks of one shape repeat it.
  std::stable_sort(found.begin(), found.end(),
                   [](const Violation& a, const Violation& b) { return a.rule < b.rule; });
  const auto last =
      std::unique(found.begin(), found.end(), [](const Violation& a, const Violation& b) {
        return a.rule == b.rule && a.message == b.message;
      });
  found.erase(last, found.end());
  return found;
}

}  // namespace sextant::describe
