// What a job is started on, where somebody says it beside the files: counts of nodes and devices in
// them are what it was started on last time, and give way.
#pragma once

#include <span>
#include <string_view>

#include "describe/cluster/cluster.h"
#include "emit/settings.h"
#include "emit/shell_script.h"

namespace sextant::emit {

// The launcher's counts become the cluster's; what was open about them is settled. The job's own
// sizes (tp, a stated dp, a mesh) stay as they are. Logs keep theirs: they ran.
void start_on(const describe::Cluster& cluster, Settings& settings);

// The device that a scheduler is asked for: "h100" of --gres=gpu:h100:8, --gpus-per-node=h100:8,
// --gpus=h100:64 or --constraint=h100; nothing where none is named.
const ScriptWord* device_asked_for(std::span<const ScriptWord> words, std::string_view& name);

}  // namespace sextant::emit
