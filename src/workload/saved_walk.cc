#include "workload/saved_walk.h"

#include <algorithm>

#include "describe/layout/precision.h"

namespace sextant::workload {
namespace {

using describe::AttentionKernel;
using describe::Framework;

Dialect dialect_of(Framework framework, bool compiled) {
  switch (framework) {
    case Framework::kMegatronCore:
      return Dialect::kMegatron;
    case Framework::kMegatronDeepspeed:
      return Dialect::kLegacy;
    case Framework::kMaxtext:
      return Dialect::kCompiled;
    case Framework::kTorchtitan:
    case Framework::kFsdp1:
    case Framework::kNanotron:
    case Framework::kOther:  // trainers of their own mostly bring fused norms
      return compiled ? Dialect::kCompiled : Dialect::kTitan;
    case Framework::kDeepspeed:
    case Framework::kAccelerate:
      return compiled ? Dialect::kCompiled : Dialect::kEager;
  }
  return Dialect::kEager;
}

// GPT-2 and GPT-3 style models are trained with dropout; gated, RMS-normed ones are not. An
// assumption: no layout says it.
bool trains_with_dropout(const describe::Model& model) {
  if (!model.norm.subtracts_mean || model.blocks.empty()) {
    return false;
  }
  const auto* ffn = std::get_if<describe::DenseFfn>(&model.blocks.front().ffn);
  return ffn != nullptr && !ffn->gated;
}

bool has_grouped_queries(const describe::Model& model) {
  return std::any_of(model.blocks.begin(), model.blocks.end(), [](const describe::Block& block) {
    const auto* attention = std::get_if<describe::Attention>(&block.mixer);
    return attention != nullptr && attention->kv_heads < attention->heads;
  });
}

struct Summed {
  PartMask recomputed = 0;
  double bytes = 0.0;
  void operator()(Part /*part*/, std::string_view /*name*/, double size, PartMask dropped) {
    bytes += (dropped & recomputed) != 0 ? 0.0 : size;
  }
};

}  // namespace

SavedRules saved_rules(const describe::Job& job, const describe::Layout& layout) {
  SavedRules rules;
  rules.dialect = dialect_of(job.framework, layout.launch == describe::Launch::kCompiled);
  rules.element = bytes_of(layout.precision) >= 4.0 ? 4.0 : 2.0;
  const bool quantised = describe::is_quantised(layout.precision);
  rules.linear_input =
      quantised && rules.dialect == Dialect::kMegatron ? bytes_of(layout.precision) : rules.element;
  rules.autocast = rules.dialect == Dialect::kEager && rules.element < 4.0 &&
                   layout.parameters == describe::Storage::kFp32 &&
                   layout.zero == describe::Zero::kNone;
  rules.flash = describe::is_flash(layout.attention);
  if (rules.dialect == Dialect::kEager && rules.element >= 4.0 && rules.flash) {
    // PyTorch has no fused fp32 attention kernel for grouped queries: it falls back to the plain
    // one.
    rules.flash = !has_grouped_queries(job.model);
  }
  const bool dtensor = rules.dialect == Dialect::kTitan || rules.dialect == Dialect::kCompiled;
  rules.gathered = dtensor && layout.sp && layout.tp > 1 && job.framework != Framework::kMaxtext
                       ? static_cast<double>(layout.tp)
                       : 1.0;
  rules.composite_gelu = rules.dialect == Dialect::kEager && describe::spells_gelu_out(job.model);
  rules.dropout = (rules.dialect == Dialect::kMegatron || rules.dialect == Dialect::kLegacy) &&
                  trains_with_dropout(job.model);
  return rules;
}

double saved_bytes(const describe::Model& model, const describe::Block& block, const Shard& shard,
                   const SavedRules& rules, PartMask recomputed) {
  Summed sum{.recomputed = recomputed, .bytes = 0.0};
  walk_saved(model, block, shard, rules, sum);
  return sum.bytes;
}

bool keeps_every_second_product(const describe::RecomputePolicy& policy) {
  return policy.granularity == describe::Recompute::kSelective &&
         std::find(policy.modules.begin(), policy.modules.end(),
                   describe::RecomputeModule::kEverySecondProduct) != policy.modules.end();
}

double every_second_product_bytes(const describe::Model& model, const describe::Block& block,
                                  const Shard& shard, const SavedRules& rules) {
  const auto* attention = std::get_if<describe::Attention>(&block.mixer);
  const auto* ffn = std::get_if<describe::DenseFfn>(&block.ffn);
  if (attention == nullptr || ffn == nullptr) {
    constexpr PartMask kElementWise =
        mask_of({Part::kInputNorm, Part::kFfnNorm, Part::kFfnActivation, Part::kSharedActivation,
                 Part::kExpertActivation});
    return saved_bytes(model, block, shard, rules, kElementWise);
  }
  const auto tokens = static_cast<double>(shard.tokens);
  const auto region = static_cast<double>(shard.region_tokens) * static_cast<double>(model.hidden);
  const auto heads = static_cast<double>(divided_up(attention->heads, shard.tp));
  const double q = heads * static_cast<double>(attention->head_dim);
  const double kv = static_cast<double>(local_kv_heads(attention->kv_heads, shard.tp)) *
                    static_cast<double>(attention->head_dim);
  const auto width = static_cast<double>(divided_up(ffn->width, shard.tp));
  // Input and w2's output, wq, attention output, wv, w1.
  return rules.element * (2.0 * region + tokens * (2.0 * q + kv + width)) + tokens * heads * 4.0;
}

double checkpoint_bytes(const describe::Model& model, const Shard& shard, const SavedRules& rules) {
  return static_cast<double>(shard.region_tokens) * static_cast<double>(model.hidden) *
         (rules.autocast ? 4.0 : rules.element);
}

}  // namespace sextant::workload
