#include "profile/kineto_category.h"

#include <array>
#include <utility>

namespace sextant::profile {
namespace {

// Source: pytorch/kineto, libkineto/src/ActivityType.cpp; the capitals are those of 2021.
constexpr std::array<std::pair<std::string_view, KinetoRole>, 32> kCategories{
    {{"cpu_op", KinetoRole::kOperator},
     {"kernel", KinetoRole::kKernel},
     {"cuda_runtime", KinetoRole::kCall},
     {"cuda_driver", KinetoRole::kCall},
     {"python_function", KinetoRole::kPython},
     {"user_annotation", KinetoRole::kHostMark},
     {"gpu_user_annotation", KinetoRole::kDeviceMark},
     {"gpu_memcpy", KinetoRole::kCopy},
     {"gpu_memset", KinetoRole::kCopy},
     {"concurrent_kernel", KinetoRole::kKernel},
     {"cuda_sync", KinetoRole::kSync},
     {"overhead", KinetoRole::kOverhead},
     {"Trace", KinetoRole::kLeftOut},
     {"cuda_profiler_range", KinetoRole::kLeftOut},
     {"mtia_ccp_events", KinetoRole::kKernel},
     {"mtia_workloadd", KinetoRole::kKernel},
     {"mtia_runtime", KinetoRole::kCall},
     {"mtia_insight", KinetoRole::kLeftOut},
     {"mtia_counters", KinetoRole::kLeftOut},
     {"glow_runtime", KinetoRole::kCall},
     {"xpu_runtime", KinetoRole::kCall},
     {"xpu_driver", KinetoRole::kCall},
     {"hpu_op", KinetoRole::kKernel},
     {"privateuse1_runtime", KinetoRole::kCall},
     {"privateuse1_driver", KinetoRole::kCall},
     {"collective_comm", KinetoRole::kHostMark},
     {"cpu_instant_event", KinetoRole::kOperator},
     {"Operator", KinetoRole::kOperator},
     {"Kernel", KinetoRole::kKernel},
     {"Runtime", KinetoRole::kCall},
     {"Memcpy", KinetoRole::kCopy},
     {"Memset", KinetoRole::kCopy}}};

}  // namespace

KinetoRole kineto_role(std::string_view category) {
  for (const auto& [name, role] : kCategories) {
    if (name == category) {
      return role;
    }
  }
  return KinetoRole::kUnknown;
}

bool is_kineto_category(std::string_view category) {
  return kineto_role(category) != KinetoRole::kUnknown && category != "kernel";
}

}  // namespace sextant::profile
