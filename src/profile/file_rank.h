// The rank that a file's name says: "rank-3.pt.trace.json", "rank3.json.gz", "megatron_kineto_3",
// "worker_3".
#pragma once

#include <optional>
#include <string_view>

#include "base/ids.h"

namespace sextant::profile {

// Of a path or a name. The number behind the last "rank"; else the one at the end of the name's
// first part (before its first '.'), behind '_', '-' or '.'. A number of more than six digits is a
// time or a process, no rank.
std::optional<RankId> rank_of_file(std::string_view path);

}  // namespace sextant::profile
