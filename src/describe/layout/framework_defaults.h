// What a framework does when the user does not say: one rule a default, each listed when it is
// used.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "describe/assumption.h"
#include "describe/cluster/cluster.h"
#include "describe/layout/layout.h"

namespace sextant::describe {

// The usual storage of an optimizer's states: Adam keeps an fp32 master and two fp32 moments, Muon
// one moment, SGD none, 8-bit Adam two int8 moments.
Optimizer default_optimizer(OptimizerKind kind);

// The schedule of a pipeline whose user names none: 1F1B, interleaved as soon as a rank holds
// several chunks.
Schedule default_schedule(std::int64_t vpp);

// Who runs a layout where nobody says: MaxText on TPUs, plain PyTorch on CPUs, else Megatron Core
// (ROCm has its own of it).
Framework default_framework(const Cluster& cluster);

// What products run in where nobody says: bf16; where the device multiplies in it no faster than in
// fp32, or not at all, fp16 if it has that, else fp32.
Precision default_precision(const Device& device);

// Sets the format of products and of what is kept for them to the device's, where nobody stated it:
// fp32 needs no second copy of the parameters. After fill_defaults; returns what it changed.
Assumptions fill_device_defaults(Layout& layout, std::span<const std::string> given,
                                 const Device& device);

// Sets the keys not in `given` to the framework's defaults; returns an
// assumption for each that it changed from Layout{}'s plain value.
Assumptions fill_defaults(Layout& layout, std::span<const std::string> given, Framework framework);

}  // namespace sextant::describe
