#include "describe/layout/framework_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/integers.h"
#include "describe/layout/framework_rules_checks.h"
#include "describe/layout/rule_nearest.h"

namespace sextant::describe {
namespace {

std::span<const FrameworkCheck> checks_of(Framework framework) {
  switch (framework) {
    case Framework::kMegatronCore:
      return megatron_checks();
    case Framework::kMegatronDeepspeed:
      return megatron_deepspeed_checks();
    case Framework::kTorchtitan:
      return torchtitan_checks();
    case Framework::kDeepspeed:
      return deepspeed_checks();
    case Framework::kMaxtext:
      return maxtext_checks();
    case Framework::kAccelerate:
      return accelerate_checks();
    case Framework::kNanotron:
      return nanotron_checks();
    case Framework::kFsdp1:
    case Framework::kOther:
      break;
  }
  return {};
}

}  // namespace

std::vector<Violation> check_framework_rules(const Job& job) {
  std::vector<Violation> found;
  for (const auto checks : {every_framework_checks(), checks_of(job.framework)}) {
    for (const FrameworkCheck& check : checks) {
      if (check.broken(job)) {
        Saying said = check.say(job);
        found.push_back(
            {check.rule, std::move(said.message), std::move(said.nearest), check.severity});
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Violation& a, const Violation& b) { return a.rule < b.rule; });
  return found;
}

bool framework_allows(const Job& job) {
  for (const auto checks : {every_framework_checks(), checks_of(job.framework)}) {
    for (const FrameworkCheck& check : checks) {
      if (check.severity == Severity::kIllegal && check.broken(job)) {
        return false;
      }
    }
  }
  return true;
}

bool has_smaller_last_microbatch(const Job& job) {
  const std::int64_t dp = job.dp();
  if (dp == 0 || job.layout.pp > 1 || job.global_batch % dp != 0) {
    return false;  // the core rules say why
  }
  const std::int64_t share = job.global_batch / dp;
  return share > job.layout.mbs && share % job.layout.mbs != 0;
}

Saying say_smaller_last_microbatch(const Job& job) {
  const std::int64_t share = job.global_batch / job.dp();
  return {
      fmt::format("mbs={} does not divide the {} sequences of a replica", job.layout.mbs, share),
      nearest_divisors("mbs", share, job.layout.mbs)};
}

bool replicates_kv_heads(const Job& job) {
  return std::any_of(job.model.blocks.begin(), job.model.blocks.end(), [&](const Block& block) {
    const auto* attention = std::get_if<Attention>(&block.mixer);
    return attention != nullptr && attention->kv_heads > 0 && attention->kv_heads < job.layout.tp &&
           job.layout.tp % attention->kv_heads == 0;
  });
}

Saying say_replicated_kv_heads(const Job& job) {
  std::int64_t fewest = job.layout.tp;
  for (const Block& block : job.model.blocks) {
    if (const auto* attention = std::get_if<Attention>(&block.mixer)) {
      fewest = std::min(fewest, attention->kv_heads);
    }
  }
  return {fmt::format("tp={} is more than the {} kv heads, which are not replicated here",
                      job.layout.tp, fewest),
          nearest_divisors("tp", fewest, job.layout.tp)};
}

bool splits_experts(const Job& job) {
  return job.layout.etp > 1 && has_experts(job.model);
}

Saying say_split_experts(const Job& job) {
  return {fmt::format("etp={}", job.layout.etp), {"etp=1"}};
}

bool experts_leave_domain(const Job& job) {
  const std::int64_t domain = job.cluster.system.domain_size.value;
  return domain > 0 && job.layout.ep > 1 && has_experts(job.model) &&
         saturating_product({job.layout.ep, job.layout.etp}) > domain;
}

Saying say_experts_leave_domain(const Job& job) {
  const std::int64_t domain = job.cluster.system.domain_size.value;
  return {fmt::format("ep={} * etp={} spans more than the {} devices of a scale-up domain",
                      job.layout.ep, job.layout.etp, domain),
          {fmt::format("ep={}", std::max<std::int64_t>(domain / job.layout.etp, 1))}};
}

}  // namespace sextant::describe
