#include "workload/saved_walk.h"

#include <algorithm>
#include <array>

namespace sextant::workload {
namespace {

using describe::AttentionKernel;
using describe::Framework;
using describe::Precision;

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
      return compiled ? Dialect::kCompiled : Dialect::kTitan;
    case Framework::kDeepspeed:
    case Framework::kAccelerate:
    case Framework::kOther:
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

// Models whose Hugging Face code spells GELU out (hidden_act "gelu_new").
// Source: transformers d56c55bf, activations.py (NewGELUActivation) and the models' config classes.
bool spells_gelu(const describe::Model& model) {
  constexpr std::array<std::string_view, 4> kFamilies{"gpt2", "gpt_neo", "gptj", "codegen"};
  return std::find(kFamilies.begin(), kFamilies.end(), model.family) != kFamilies.end();
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
  const bool quantised = layout.precision == Precision::kFp8 ||
                         layout.precision == Precision::kMxfp8 ||
                         layout.precision == Precision::kNvfp4;
  rules.linear_input =
      quantised && rules.dialect == Dialect::kMegatron ? bytes_of(layout.precision) : rules.element;
  rules.autocast = rules.dialect == Dialect::kEager && rules.element < 4.0 &&
                   layout.parameters == describe::Storage::kFp32 &&
                   layout.zero == describe::Zero::kNone;
  rules.flash =
      layout.attention == AttentionKernel::kFlash || layout.attention == AttentionKernel::kCudnn;
  rules.composite_gelu = rules.dialect == Dialect::kEager && spells_gelu(job.model);
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

double checkpoint_bytes(const describe::Model& model, const Shard& shard, const SavedRules& rules) {
  return static_cast<double>(shard.region_tokens) * static_cast<double>(model.hidden) *
         (rules.autocast ? 4.0 : rules.element);
}

}  // namespace sextant::workload
