#include "emit/canonical.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sextant::emit {
namespace {

using describe::CpMethod;
using describe::Layout;
using describe::Overlap;
using describe::Recompute;

void settle_recompute(describe::RecomputePolicy& policy) {
  if (policy.granularity != Recompute::kFull) {
    policy.method = describe::RecomputeMethod::kUniform;
    policy.layers = 0;
  }
  if (policy.granularity != Recompute::kSelective) {
    policy.modules.clear();
  }
  // A chunk of one layer is every layer by itself, which is what "full" means.
  if (policy.layers == 0 ||
      (policy.method == describe::RecomputeMethod::kUniform && policy.layers == 1)) {
    policy.method = describe::RecomputeMethod::kUniform;
    policy.layers = 0;
  }
}

// As many layers on every stage is what no list at all means.
void settle_split(Layout& layout) {
  std::vector<std::int64_t>& stages = layout.split.layers_per_stage;
  const bool whole = std::cmp_equal(stages.size(), layout.stages());
  const bool even = std::ranges::all_of(
      stages, [&stages](std::int64_t layers) { return layers == stages.front(); });
  if (whole && even) {
    layout.split = {};
  }
}

void settle_overlap(Layout& layout) {
  const bool replicas = layout.dp * layout.cp != 1;
  std::erase_if(layout.overlap, [&](Overlap what) {
    return (what == Overlap::kGradReduce && !replicas) ||
           (what == Overlap::kParamGather && (!replicas || layout.zero == describe::Zero::kNone)) ||
           (what == Overlap::kTensorParallel && layout.tp == 1) ||
           (what == Overlap::kPipeline && layout.pp == 1) ||
           (what == Overlap::kExpert && layout.ep == 1) ||
           (what == Overlap::kContext && layout.cp == 1);
  });
}

}  // namespace

std::int64_t usual_cp_inner(const describe::Model& model, const Layout& layout) {
  for (const describe::Block& block : model.blocks) {
    std::int64_t heads = 0;
    if (const auto* attention = std::get_if<describe::Attention>(&block.mixer)) {
      heads = attention->kv_heads;
    } else if (const auto* latent = std::get_if<describe::LatentAttention>(&block.mixer)) {
      heads = latent->heads;
    }
    if (heads > 0) {
      return std::gcd(std::max<std::int64_t>(heads / layout.tp, 1), layout.cp);
    }
  }
  return 0;
}

Layout canonical_layout(const describe::Job& job) {
  Layout layout = job.layout;
  const Layout plain;
  layout.dp = job.dp();
  layout.sp = layout.sp && layout.tp > 1;
  if (layout.cp == 1) {
    layout.cp_method = plain.cp_method;
  }
  if (layout.cp_method != CpMethod::kAllToAllP2p ||
      layout.cp_inner == usual_cp_inner(job.model, layout)) {
    layout.cp_inner = 0;
  }
  if (layout.pp == 1) {
    layout.vpp = 1;
    layout.schedule = plain.schedule;
    layout.split = plain.split;
  }
  if (!describe::has_experts(job.model)) {
    layout.ep = 1;
    layout.etp = 1;
    layout.dispatcher = plain.dispatcher;
  }
  const std::int64_t ranks = saturating_product({layout.dp, layout.cp});
  if (layout.zero == describe::Zero::kNone || layout.zero_group >= ranks) {
    layout.zero_group = 0;
  }
  layout.reshard_after_forward |= layout.zero != describe::Zero::kParameters;
  settle_split(layout);
  settle_recompute(layout.recompute);
  settle_overlap(layout);
  return layout;
}

}  // namespace sextant::emit
