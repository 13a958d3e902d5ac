// The checks behind framework_rules.h, a table a framework.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "describe/layout/rules.h"

namespace sextant::describe {

// What is said of a broken rule.
struct Saying {
  std::string message;
  std::vector<std::string> nearest;
};

// `broken` decides and allocates nothing; `say` is asked only where it is.
struct FrameworkCheck {
  std::string_view rule;
  Severity severity = Severity::kIllegal;
  bool (*broken)(const Job& job) = nullptr;
  Saying (*say)(const Job& job) = nullptr;
};

std::span<const FrameworkCheck> every_framework_checks();
std::span<const FrameworkCheck> megatron_checks();
std::span<const FrameworkCheck> torchtitan_checks();
std::span<const FrameworkCheck> deepspeed_checks();
std::span<const FrameworkCheck> megatron_deepspeed_checks();
std::span<const FrameworkCheck> maxtext_checks();
std::span<const FrameworkCheck> accelerate_checks();
std::span<const FrameworkCheck> nanotron_checks();

// Questions that several frameworks ask.

// Without a pipeline a core rule lets the last microbatch be smaller; most frameworks do not.
bool has_smaller_last_microbatch(const Job& job);
Saying say_smaller_last_microbatch(const Job& job);
// More tensor-parallel ranks than key/value heads, legal where heads are replicated.
bool replicates_kv_heads(const Job& job);
Saying say_replicated_kv_heads(const Job& job);
// Tensor parallelism inside experts, which few frameworks have.
bool splits_experts(const Job& job);
Saying say_split_experts(const Job& job);
// Expert groups wider than a scale-up domain.
bool experts_leave_domain(const Job& job);
Saying say_experts_leave_domain(const Job& job);

}  // namespace sextant::describe
