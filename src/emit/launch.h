// A bash script that starts a job: the environment, the launcher and the framework's program.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "describe/layout/job.h"
#include "describe/words.h"
#include "emit/dialects.h"
#include "emit/files.h"

namespace sextant::emit {

// kTorchrun: run on every node by hand, NODE_RANK and MASTER_ADDR set there (DeepSpeed and
// Accelerate: by their own launchers). kSlurm: an sbatch script.
enum class Launcher { kTorchrun, kSlurm };
inline constexpr std::array<describe::Word<Launcher>, 2> kLauncherWords{
    {{Launcher::kTorchrun, "torchrun"}, {Launcher::kSlurm, "slurm"}}};

// The file that holds a dialect's settings beside the script; "" where the command line holds them
// (Megatron, Bridge, MaxText).
std::string_view config_file_name(Dialect dialect);

// The word as bash reads it back: bare where that is safe, else in single quotes.
std::string shell_quoted(std::string_view word);

// The script reads back (emit/shell_job.h) to the writing's settings where the command line holds
// them, and always to its environment and launch settings. `comments`: lines put at the top.
File launch_script(const Writing& writing, const describe::Job& job, Launcher launcher,
                   const std::vector<std::string>& comments);

}  // namespace sextant::emit
