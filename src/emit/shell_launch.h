// How many devices a launch script asks for: torchrun, deepspeed, accelerate, srun, mpirun and
// #SBATCH say it in different words.
#pragma once

#include <vector>

#include "emit/settings.h"
#include "emit/shell_program.h"
#include "emit/shell_script.h"

namespace sextant::emit {

struct LaunchFacts {
  // "nodes", "devices_per_node", "devices", each where it is known. One that follows from the
  // others (or is the launcher's own default) has no literal.
  std::vector<Setting> settings;
  std::vector<Unresolved> unresolved;
};

LaunchFacts launch_facts(const ShellScript& script, const TrainingCommand& found);

}  // namespace sextant::emit
