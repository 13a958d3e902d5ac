// Which command of a launch script starts the training, and in which dialect its arguments are.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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
  bool known = true;       // false: a program of which nobody knows what it takes
  std::size_t others = 0;  // further commands that could as well be it and say something else
};

// The command most likely to be the training, the first of equals; nothing where none starts a
// Python program or a known script.
std::optional<TrainingCommand> training_command(const ShellScript& script);

// The command's words before the program, and behind it.
std::span<const ScriptWord> launcher_words(const ShellScript& script, const TrainingCommand& found);
std::span<const ScriptWord> program_words(const ShellScript& script, const TrainingCommand& found);

// A word that opens an option: "--flag", "-n"; "-1" is a value.
bool is_option(std::string_view word);

}  // namespace sextant::emit
