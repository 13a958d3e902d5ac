// Does the name that somebody gave to a range say that it is a training step?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sextant::profile {

struct StepName {
  std::string row;  // the name with '#' for each number: ranges of one row are steps of one loop
  std::optional<std::int64_t> number;  // the last one in it
  bool operator==(const StepName&) const = default;
};

// "iteration 12", "ProfilerStep#7", "train_step", "Epoch 1, batch 30/500": the last word is step,
// iter, iteration or batch (perhaps after profiler, train or global), and none says that it is a
// part of a step ("forward_step", "optimizer step", "micro batch") or no training ("eval step").
std::optional<StepName> step_name(std::string_view text);

}  // namespace sextant::profile
