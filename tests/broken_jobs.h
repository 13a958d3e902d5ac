// Deliberately broken jobs: each is a small change of a legal one and breaks exactly one rule.
#pragma once

#include <functional>
#include <vector>

#include "describe/layout/rules.h"
#include "legal_jobs.h"

namespace sextant::tests {

struct BrokenJob {
  const char* rule;
  Base base;
  const char* settings = "";
  std::function<void(describe::Job&)> change = nullptr;
  describe::Severity severity = describe::Severity::kIllegal;
};

// Rules that hold anywhere (broken_jobs_core.cc).
std::vector<BrokenJob> core_jobs();
// What a device or a framework does not have (broken_jobs_device.cc).
std::vector<BrokenJob> device_jobs();
// Megatron's about the layout, about experts, and about its settings (broken_jobs_megatron.cc).
std::vector<BrokenJob> megatron_jobs();
std::vector<BrokenJob> megatron_experts();
std::vector<BrokenJob> megatron_settings();
// The other frameworks' (broken_jobs_others.cc).
std::vector<BrokenJob> torchtitan_jobs();
std::vector<BrokenJob> other_jobs();

}  // namespace sextant::tests
