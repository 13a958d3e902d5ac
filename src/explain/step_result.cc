#include "explain/step_result.h"

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "explain/percent.h"

namespace sextant::explain {
namespace {

using sextant::to_text;
using step::Axis;

std::string stage_text(const workload::Stage& stage) {
  const std::string layers =
      stage.layers == 0 ? std::string("no layers")
      : stage.layers == 1
          ? fmt::format("layer {}", stage.first_layer)
          : fmt::format("layers {}-{}", stage.first_layer, stage.first_layer + stage.layers - 1);
  return fmt::format("{} ({}{}{})", stage.index, layers, stage.embedding ? ", embedding" : "",
                     stage.head ? ", head" : "");
}

}  // namespace

std::string slowest_stages(const step::Estimate& result) {
  std::vector<std::string> names;
  for (const workload::Stage& stage : result.stages) {
    if (stage.pipeline_rank == result.step.slowest_rank) {
      names.push_back(stage_text(stage));
    }
  }
  return fmt::format("stage{} {}", names.size() == 1 ? "" : "s", join(names, ", "));
}

std::string with_interval(const step::Estimate& result) {
  const std::string time = to_text(result.step.step);
  return result.interval
             ? fmt::format("{} ({} … {})", time, to_text(result.low()), to_text(result.high()))
             : time;
}

std::string energy_text(const step::Estimate& result) {
  if (!result.energy) {
    return "not known: what the device draws is not published";
  }
  return fmt::format("{:.4g} tokens/J, {} a device", result.tokens_per_joule(),
                     sextant::to_text(result.device_power()));
}

std::string overhead_text(const step::Estimate& result) {
  if (result.step.exposed.total() <= Seconds()) {
    return "none";
  }
  std::vector<std::string> axes;
  for (const auto& [axis, word] : step::kAxisWords) {
    if (result.step.exposed[axis] > Seconds()) {
      axes.push_back(
          fmt::format("{} {}", word, percent(result.step.exposed[axis] / result.step.step)));
    }
  }
  return fmt::format("{} of the step ({})", percent(result.overhead()), join(axes, ", "));
}

std::string memory_text(const step::StepMemory& memory) {
  const std::int64_t rank = memory.fullest.pipeline_rank;
  if (memory.rejection) {
    return fmt::format(
        "does not fit: pipeline rank {} needs at least {}, the device has {}; {} missing", rank,
        to_text(memory.rejection->needed), to_text(memory.available),
        to_text(memory.rejection->missing()));
  }
  if (memory.tight()) {
    return fmt::format(
        "tight: fits {}; pipeline rank {} needs {} with what the allocator reserves, {} without, "
        "of {}",
        odds_text(memory.odds), rank, to_text(memory.fullest.device), to_text(memory.fullest.least),
        to_text(memory.available));
  }
  const std::string fits = fmt::format("fits: pipeline rank {} needs {} of {}", rank,
                                       to_text(memory.fullest.device), to_text(memory.available));
  return memory.odds < cost::kSafeOdds ? fmt::format("{}, {}", fits, odds_text(memory.odds)) : fits;
}

std::string odds_text(double odds) {
  constexpr double kNearlyAll = 0.99;
  constexpr double kTenths = 0.9;
  if (odds >= kNearlyAll) {
    return "in nearly all such cases";
  }
  if (odds <= 1.0 - kNearlyAll) {
    return "in hardly any such case";
  }
  return odds >= kTenths || odds <= 1.0 - kTenths
             ? fmt::format("in {:.0f} of 100 such cases", odds * 100.0)
             : fmt::format("in {:.0f} of 10 such cases", odds * 10.0);
}

std::string safer_text(const step::StepMemory& memory) {
  if (!memory.tight() || memory.changes.empty()) {
    return {};
  }
  const cost::FittingChange& change = memory.changes.front();
  return fmt::format("safe with {} (needs {}{})", change.change, to_text(change.needed),
                     change.step ? ", step " + to_text(*change.step) : std::string());
}

std::string fit_text(const step::StepMemory& memory) {
  const std::string safer = safer_text(memory);
  return memory_text(memory) + (safer.empty() ? safer : "; " + safer);
}

std::string rate_text(Hertz tokens) {
  const double rate = tokens.base();
  return rate < 1000.0 ? fmt::format("{:.4g}", rate) : fmt::format("{:.0f}", rate);
}

}  // namespace sextant::explain
