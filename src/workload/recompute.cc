#include "workload/recompute.h"

namespace sextant::workload {

using describe::Framework;
using describe::Recompute;
using describe::RecomputeMethod;
using describe::RecomputeModule;
using describe::RecomputePolicy;

namespace {

constexpr PartMask kMlpParts = mask_of({Part::kFc1, Part::kFfnActivation, Part::kFc2});
constexpr PartMask kSharedParts =
    mask_of({Part::kSharedFc1, Part::kSharedActivation, Part::kSharedFc2});
constexpr PartMask kMoeParts =
    kSharedParts | mask_of({Part::kRouter, Part::kDispatch, Part::kLatent, Part::kExpertFc1,
                            Part::kExpertActivation, Part::kExpertFc2, Part::kCombine});

// torchtitan's operator policy keeps attention and every second product (wq, wv, w1, w2 of wq, wk,
// wv, wo, w1, w3, w2). Parts are whole here: the two products that share a part with a kept one (wk
// with wq and wv, w3 with w1) are not counted again. Source: torchtitan v0.2.2,
// distributed/activation_checkpoint.py (_sac_save_list, "op").
constexpr PartMask kBetweenProducts =
    mask_of({Part::kInputNorm, Part::kQkNorm, Part::kRotary, Part::kAttentionOutput, Part::kFfnNorm,
             Part::kFfnActivation, Part::kSharedActivation, Part::kExpertActivation});

// Does the framework leave out a last product that no gradient reads?
bool stops_early(Framework framework) {
  switch (framework) {
    case Framework::kTorchtitan:
    case Framework::kFsdp1:
    case Framework::kAccelerate:
    case Framework::kMaxtext:
    case Framework::kOther:
      return true;
    case Framework::kMegatronCore:
    case Framework::kMegatronDeepspeed:
    case Framework::kDeepspeed:
    case Framework::kNanotron:
      return false;
  }
  return false;
}

PartMask parts_of(RecomputeModule module, Framework framework) {
  switch (module) {
    case RecomputeModule::kCoreAttention:
      return mask_of(Part::kCoreAttention);
    case RecomputeModule::kLayerNorm:
      return mask_of({Part::kInputNorm, Part::kFfnNorm});
    case RecomputeModule::kMlp: {
      // Megatron means dense layers only; MaxText's policies name the feed-forward part of any.
      const PartMask mlp =
          stops_early(framework) ? kMlpParts & ~mask_of(Part::kFc2) : PartMask{kMlpParts};
      return framework == Framework::kMaxtext ? mlp | kMoeParts : mlp;
    }
    case RecomputeModule::kMoe:
      return kMoeParts;
    case RecomputeModule::kMoeActivation:
      return mask_of(Part::kExpertActivation);
    case RecomputeModule::kMlaUpProjection:
      return mask_of({Part::kMlaQueryUp, Part::kMlaKvUp, Part::kRotary});
    case RecomputeModule::kSharedExperts:
      return kSharedParts;
    case RecomputeModule::kActivation:
      return mask_of({Part::kFfnActivation, Part::kExpertActivation, Part::kSharedActivation});
    case RecomputeModule::kEverySecondLayer:
      return 0;
    case RecomputeModule::kEverySecondProduct:
      return kBetweenProducts;
  }
  return 0;
}

}  // namespace

PartMask recomputed_parts(const RecomputePolicy& policy, Framework framework) {
  if (policy.granularity != Recompute::kSelective) {
    return 0;
  }
  PartMask mask = policy.modules.empty() ? mask_of(Part::kCoreAttention) : PartMask{0};
  for (const RecomputeModule module : policy.modules) {
    mask |= parts_of(module, framework);
  }
  return mask;
}

PartMask parts_of_whole_layer(const describe::Block& block, Framework framework) {
  constexpr int kNormAfterFfn = 4;  // Gemma's fourth norm reads the down projection's output
  const bool unread =
      std::holds_alternative<describe::DenseFfn>(block.ffn) && block.norms < kNormAfterFfn;
  return unread && stops_early(framework) ? kLayerParts & ~mask_of(Part::kFc2)
                                          : PartMask{kLayerParts};
}

bool skips_layers(const RecomputePolicy& policy) {
  return policy.granularity == Recompute::kSelective &&
         std::find(policy.modules.begin(), policy.modules.end(),
                   RecomputeModule::kEverySecondLayer) != policy.modules.end();
}

RecomputedLayers recomputed_layers(const RecomputePolicy& policy, std::int64_t layers) {
  switch (policy.granularity) {
    case Recompute::kNone:
      return {};
    case Recompute::kFull: {
      const bool all = policy.method == RecomputeMethod::kUniform || policy.layers == 0;
      return {.full = all ? layers : std::min(policy.layers, layers), .selective = 0};
    }
    case Recompute::kSelective: {
      const std::int64_t full = skips_layers(policy) ? layers / 2 : 0;
      return {.full = full, .selective = layers - full};
    }
  }
  return {};
}

RecomputedLayers recomputed_layers(const RecomputePolicy& policy, const describe::Model& model,
                                   const Stage& stage, std::int64_t block) {
  const std::int64_t held = stage.blocks[static_cast<std::size_t>(block)];
  const RecomputedLayers all = recomputed_layers(policy, stage.layers);
  if (all.full == 0 || all.full == stage.layers) {
    return {.full = all.full == 0 ? 0 : held, .selective = all.selective == 0 ? 0 : held};
  }
  const bool every_second = skips_layers(policy);
  std::int64_t full = 0;
  for (std::int64_t position = 0; position < stage.layers; ++position) {
    const auto layer = static_cast<std::size_t>(stage.first_layer + position);
    full +=
        model.layers[layer] == block && recomputed_whole(policy, every_second, position) ? 1 : 0;
  }
  return {.full = full, .selective = all.selective == 0 ? 0 : held - full};
}

RecomputedLayers recomputed_mtp_layers(const RecomputePolicy& policy, std::int64_t mtp_layers) {
  switch (policy.granularity) {
    case Recompute::kNone:
      return {};
    case Recompute::kFull:
      return {.full = policy.method == RecomputeMethod::kUniform ? mtp_layers : 0, .selective = 0};
    case Recompute::kSelective:
      return {.full = 0, .selective = mtp_layers};
  }
  return {};
}

}  // namespace sextant::workload
