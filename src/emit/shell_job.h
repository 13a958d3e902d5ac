// A user's bash launch script → Settings: the training command it would start, in its framework's
// words. The script is read, never run; no file it names is opened.
#pragma once

#include <string_view>

#include "base/result.h"
#include "emit/settings.h"
#include "emit/shell_script.h"

namespace sextant::emit {

// Knows torchrun, torch.distributed.run and .launch, srun and #SBATCH, mpirun, deepspeed,
// accelerate launch and plain python, before Megatron's pretrain_*.py, Bridge's run_recipe.py,
// torchtitan, MaxText, nanotron, and programs with their flags. A configuration file named on the
// command line is the launch setting "config_file". Kubernetes manifests are not read.
//
// An Error where the script is broken or too large (emit/shell_script.h), or starts no training.
Result<Settings> parse_shell(std::string_view text, std::string_view name,
                             const ShellInvocation& invocation = {});

// The same of commands that are at hand: read from a script, or captured while it ran.
Result<Settings> settings_of_commands(const ShellScript& script, std::string_view name);

}  // namespace sextant::emit
