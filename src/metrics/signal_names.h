// Which names of ranges and calls on the host are signs of a cause (signals.h).
#pragma once

#include <optional>
#include <string_view>

#include "metrics/signals.h"

namespace sextant::metrics {

// "train.py(12): step", "<built-in function sleep>", "nn.Module: Linear_0", XLA's "$train.py:12 f":
// a function that the profiler records around what it calls.
bool is_frame(std::string_view name);

// Ranges that frameworks and people draw around everything: "ProfilerStep#4", "Optimizer.step#…".
bool is_outline(std::string_view name);
// "Optimizer.step#AdamW.step", "aten::_fused_adamw_": an optimizer at work.
bool is_update(std::string_view name);

// What the name alone says; of kSync only what always waits. Nothing for what is no sign.
std::optional<Signal> signal_of_name(std::string_view name);

// Operators that read what the device computed, if they wait: "aten::item".
bool is_reading(std::string_view name);
// Operators that copy from one place to another: "aten::to".
bool is_copying(std::string_view name);
// Calls that give memory back, and that ask for it.
bool is_release(std::string_view call);
bool is_request(std::string_view call);

}  // namespace sextant::metrics
