// What a step sends, as a tree: kind of group, then every message with its size and count.
#pragma once

#include <cstdint>
#include <span>

#include "explain/term_tree.h"
#include "workload/collective.h"

namespace sextant::explain {

// Wire bytes that leave one rank of each stage in a step.
Term traffic_tree(std::span<const workload::Collective> collectives);

}  // namespace sextant::explain
