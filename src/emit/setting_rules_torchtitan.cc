// torchtitan's rules about its settings.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/setting_rules_view.h"

namespace sextant::emit {
namespace {

using describe::Severity;

bool compiles(const SettingsView& say) {
  return say.on("compile.enable", say.on("training.compile"));
}

bool has_memory_budget(const Settings& settings) {
  return std::any_of(settings.given.begin(), settings.given.end(), [](const Setting& setting) {
    return setting.key.starts_with("activation_checkpoint") && !setting.values.empty() &&
           (setting.values.front() == "memory_budget" ||
            setting.values.front().find("MemoryBudgetAC") != std::string::npos);
  });
}

void check_compile(const Asked& asked) {
  if (compiles(asked.say)) {
    return;
  }
  const bool budget = has_memory_budget(asked.say.settings());
  const bool asynchronous = asked.say.on("compile.enable_async_tensor_parallel") ||
                            asked.say.on("parallelism.enable_async_tensor_parallel");
  if (budget || asynchronous) {
    asked.broken("TORCHTITAN-COMPILE",
                 fmt::format("{} without compile.enable",
                             budget ? "a memory budget" : "enable_async_tensor_parallel"),
                 {"compile.enable=true"});
  }
}

void check_context_backend(const Asked& asked) {
  if (asked.job.layout.cp == 1) {
    return;
  }
  const auto backend = asked.say.word("parallelism.spmd_backend");
  if (backend == "spmd_types") {
    return;
  }
  asked.broken("TORCHTITAN-CP-FLEX",
               fmt::format("cp={} with spmd_backend {}", asked.job.layout.cp,
                           backend ? printable(*backend) : "not set"),
               {"parallelism.spmd_backend=spmd_types"},
               backend ? Severity::kIllegal : Severity::kRisk);
}

void check_graphs(const Asked& asked) {
  const describe::Layout& at = asked.job.layout;
  if (asked.say.on("training.disable_cuda_graphs")) {
    return;
  }
  if (at.pp > 1) {
    asked.broken("TORCHTITAN-GRAPHS",
                 fmt::format("pp={} without training.disable_cuda_graphs", at.pp),
                 {"training.disable_cuda_graphs=true"});
    return;
  }
  const std::string backend =
      to_lower(asked.say.word("parallelism.expert_parallel_comm_backend").value_or(""));
  if (at.ep > 1 && backend.find("hybrid") == std::string::npos &&
      backend.find("minimal") == std::string::npos) {
    asked.broken("TORCHTITAN-GRAPHS",
                 fmt::format("ep={} without training.disable_cuda_graphs", at.ep),
                 {"training.disable_cuda_graphs=true"}, Severity::kRisk);
  }
}

void check_stages(const Asked& asked) {
  const SettingsView& say = asked.say;
  constexpr std::int64_t kMost = 1'000'000;
  const std::int64_t pp = asked.job.layout.pp;
  const auto each = say.number("parallelism.pipeline_parallel_layers_per_stage");
  if (!each || pp == 1) {
    return;
  }
  const auto less = [&](std::string_view key) {
    return std::clamp<std::int64_t>(say.number(key).value_or(1), 0, kMost);
  };
  const std::int64_t places = asked.job.model.layer_count() +
                              less("parallelism.pipeline_parallel_first_stage_less_layers") +
                              less("parallelism.pipeline_parallel_last_stage_less_layers");
  const std::int64_t size = std::clamp<std::int64_t>(*each, 1, kMost);
  const std::int64_t stages = (places + size - 1) / size;
  const std::string schedule =
      to_lower(say.word("parallelism.pipeline_parallel_schedule").value_or("1F1B"));
  const bool single = schedule == "1f1b" || schedule == "gpipe";
  if (stages % pp != 0 || (single ? stages != pp : stages < 2 * pp)) {
    asked.broken("TORCHTITAN-STAGES",
                 fmt::format("{} layers a stage make {} stages on pp={} with {}", size, stages, pp,
                             printable(schedule)),
                 {fmt::format("parallelism.pipeline_parallel_layers_per_stage={}",
                              (places + (single ? pp : 2 * pp) - 1) / (single ? pp : 2 * pp))});
  }
}

}  // namespace

void check_torchtitan_settings(const Asked& asked) {
  check_compile(asked);
  check_stages(asked);
  // Graphs by default, and the new attention back ends, came after the TOML.
  if (asked.say.settings().dialect == Dialect::kTorchtitan) {
    check_context_backend(asked);
    check_graphs(asked);
  }
}

}  // namespace sextant::emit
