// Which command of a launch script starts the training, and in which dialect its arguments are.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emit/settings.h"
#include "emit/shell_script.h"

namespace sextant::emit {

// What starts the processes. kPlain: python by itself, or under srun or mpirun.
enum class Starter { kPlain, kTorchrun, kDeepspeed, kAccelerate };

struct TrainingCommand {
  std::size_t command = 0;  // index into the script's commands
  std::size_t program = 0;  // index of the word that names the program, a file or a module
  Starter starter = Starter::kPlain;
  Dialect dialect = Dialect::kMegatron;
  bool known = true;  // false: a program of which nobody knows what it takes
};

// The commands most likely to be the training, in order, each text once: those that run for sure,
// else those that may. None where nothing starts a Python program or a known script.
std::vector<TrainingCommand> training_commands(const ShellScript& script);

// The command's words before the program, and behind it.
std::span<const ScriptWord> launcher_words(const ShellScript& script, const TrainingCommand& found);
std::span<const ScriptWord> program_words(const ShellScript& script, const TrainingCommand& found);

// A word that opens an option: "--flag", "-n"; "-1" is a value.
bool is_option(std::string_view word);

}  // namespace sextant::emit
