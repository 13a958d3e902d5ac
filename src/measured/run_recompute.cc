// Recomputation policies. The kind is normalised; the modules of a selective policy are free text.
//
// MaxText's policies name what is kept, ours name what is computed again. A policy that keeps the
// block's input alone is full recomputation; one that also keeps the projections computes norms,
// the attention core and the feed-forward part again ("context" kept: not the attention core);
// "minimal" keeps every product and computes norms and activations again.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/assumption.h"
#include "measured/row_tools.h"
#include "measured/run_layout.h"

namespace sextant::measured {

namespace {

using describe::Recompute;
using describe::RecomputeModule;
using describe::RecomputePolicy;

void add_module(RecomputePolicy& policy, RecomputeModule module) {
  if (std::find(policy.modules.begin(), policy.modules.end(), module) == policy.modules.end()) {
    policy.modules.push_back(module);
  }
}

// Phrases of selective policies, longest first.
constexpr std::array<std::pair<std::string_view, RecomputeModule>, 12> kPhrases{
    {{"shared_expert", RecomputeModule::kSharedExperts},
     {"mla_up_proj", RecomputeModule::kMlaUpProjection},
     {"mla up", RecomputeModule::kMlaUpProjection},
     {"moe_act", RecomputeModule::kMoeActivation},
     {"core_attn", RecomputeModule::kCoreAttention},
     {"attention core", RecomputeModule::kCoreAttention},
     {"layernorm", RecomputeModule::kLayerNorm},
     {"rmsnorm", RecomputeModule::kLayerNorm},
     {"every other", RecomputeModule::kEverySecondLayer},
     {"activation", RecomputeModule::kActivation},
     {"mlp", RecomputeModule::kMlp},
     {"moe", RecomputeModule::kMoe}}};

// Each phrase is taken out once found, so that "moe_act" is not also "moe".
void add_named(std::string text, RecomputePolicy& policy) {
  for (const auto& [phrase, module] : kPhrases) {
    for (std::size_t at = text.find(phrase); at != std::string::npos; at = text.find(phrase)) {
      text.erase(at, phrase.size());
      add_module(policy, module);
    }
  }
}

RecomputePolicy selective(const RunCells& run, describe::Assumptions& assumed) {
  RecomputePolicy policy;
  policy.granularity = Recompute::kSelective;
  const std::string text = to_lower(run.recompute_text);
  if (contains(text, "selective layer") || contains(run.notes, "every other block")) {
    add_module(policy, RecomputeModule::kEverySecondLayer);
    return policy;
  }
  add_named(text, policy);
  if (!policy.modules.empty()) {
    return policy;
  }
  if (contains(text, " op") || contains(text, "sac") || contains(text, "toml")) {
    policy.modules = {RecomputeModule::kEverySecondProduct};
    assumed.push_back({"recompute", "selective:op", "torchtitan's operator-level policy", {}});
    return policy;
  }
  add_module(policy, RecomputeModule::kCoreAttention);
  assumed.push_back({"recompute", "selective:core_attn", "Megatron's selective", {}});
  return policy;
}

RecomputePolicy custom(const RunCells& run, describe::Assumptions& assumed) {
  const std::string text = to_lower(run.recompute_text) + " " + to_lower(run.flags);
  RecomputePolicy policy;
  policy.granularity = Recompute::kSelective;
  if (contains(text, "minimal")) {
    policy.modules = {RecomputeModule::kLayerNorm, RecomputeModule::kActivation};
  } else if (contains(text, "query_proj") || contains(text, "qkv_proj")) {
    policy.modules = {RecomputeModule::kLayerNorm, RecomputeModule::kMlp};
    if (!contains(text, "context=") && !contains(text, "context:")) {
      policy.modules.insert(policy.modules.begin(), RecomputeModule::kCoreAttention);
    }
  } else {
    policy.granularity = Recompute::kFull;
  }
  assumed.push_back({"recompute",
                     policy.granularity == Recompute::kFull ? "full" : "selective",
                     fmt::format("the policy \"{}\"", printable(run.recompute_text)),
                     {}});
  return policy;
}

}  // namespace

RecomputePolicy run_recompute(const RunCells& run, describe::Assumptions& assumed) {
  RecomputePolicy policy;
  if (run.recompute_kind == "full") {
    policy.granularity = Recompute::kFull;
  } else if (run.recompute_kind == "selective") {
    policy = selective(run, assumed);
  } else if (run.recompute_kind == "custom") {
    policy = custom(run, assumed);
  }
  std::sort(policy.modules.begin(), policy.modules.end());
  return policy;
}

}  // namespace sextant::measured
