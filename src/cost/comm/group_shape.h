// Where a group of ranks lies: how many scale-up domains it spans and how full they are.
#pragma once

#include <cstdint>

#include "cost/comm/comm_model.h"
#include "workload/groups.h"

namespace sextant::cost {

// Ranks fill domains in their order: rank r is in domain r / domain_size. Of the rank that the
// group was asked for; the other domains are taken to be as full as its own.
// REQUIRES: domain_size ≥ 1.
GroupShape group_shape(const workload::RankGroup& group, std::int64_t domain_size);

}  // namespace sextant::cost
