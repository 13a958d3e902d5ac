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

// Who runs a layout where nobody says: MaxText on TPUs, else Megatron Core.
Framework default_framework(const Cluster& cluster);

// Sets the keys not in `given` to the framework's defaults; returns an
// assumption for each that it changed from Layout{}'s plain value.
Assumptions fill_defaults(Layout& layout, std::span<const std::string> given, Framework framework);

}  // namespace sextant::describe
