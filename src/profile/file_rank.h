// The rank that a file's name says: "rank-3.pt.trace.json", "rank3.json.gz", "megatron_kineto_3",
// "worker_3".
#pragma once

#include <optional>
#include <string_view>

#include "base/ids.h"

namespace sextant::profile {

// Of a path or a name. The number behind the last "rank"; else the one at the end of the name but
// for its extensions (.json, .gz, .pt.trace …), behind '_' or '-' or alone, unless the word before
// it says that it counts something else ("num_workers_4", "step_30"). A number of more than six
// digits is a time or a process, no rank.
std::optional<RankId> rank_of_file(std::string_view path);

}  // namespace sextant::profile
