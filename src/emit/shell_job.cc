#include "emit/shell_job.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/shell_arguments.h"
#include "emit/shell_launch.h"
#include "emit/shell_program.h"
#include "emit/shell_script.h"
#include "emit/who_runs.h"

namespace sextant::emit {
namespace {

// Exported variables, then those before the command itself. One that is not known is listed.
void add_environment(const ShellScript& script, const ScriptCommand& command, Settings& settings) {
  const auto add = [&](const ScriptVariable& variable) {
    if (variable.values.size() != 1) {
      return;
    }
    const ScriptWord& value = variable.values[0];
    if (value.why.empty()) {
      settings.environment.push_back({variable.name, {value.at.text}, value.at.place});
    } else {
      settings.unresolved.push_back(
          {fmt::format("{}={}", variable.name, value.at.text), value.why, value.at.place});
    }
  };
  for (const ScriptVariable& variable : script.variables) {
    if (variable.exported) {
      add(variable);
    }
  }
  for (const ScriptVariable& variable : command.environment) {
    add(variable);
  }
}

// A word that is not known stands in quotes, so that a file of values stays one.
WrittenFile written_text(const ScriptFile& file) {
  WrittenFile made{file.name, {}, file.known};
  bool quoted = false;
  for (const ScriptWord& part : file.parts) {
    const bool bare = !part.why.empty() && !quoted;
    made.text += bare ? '"' + part.at.text + '"' : part.at.text;
    quoted = std::ranges::count(part.at.text, '"') % 2 == 1 ? !quoted : quoted;
  }
  return made;
}

}  // namespace

Result<Settings> parse_shell(std::string_view text, std::string_view name,
                             const ShellInvocation& invocation) {
  SEXTANT_TRY(const ShellScript script, read_shell_script(text, name, invocation));
  return settings_of_commands(script, name);
}

Result<Settings> settings_of_commands(const ShellScript& script, std::string_view name) {
  const auto found = training_command(script);
  if (found) {
    const ScriptCommand& command = script.commands[found->command];
    if (const auto other = other_in_command(command.words)) {
      return not_read(*other, fmt::format("{}:{}", name, command.line));
    }
  }
  if (!found || !found->known) {
    for (const ScriptCommand& command : script.commands) {
      if (const auto other = other_in_command(command.words)) {
        return not_read(*other, fmt::format("{}:{}", name, command.line));
      }
    }
  }
  if (!found) {
    return invalid("no command of the script starts a training", std::string(name),
                   "torchrun, srun, mpirun, deepspeed, accelerate launch or python before "
                   "a "
                   "program, e.g. torchrun --nproc_per_node 8 pretrain_gpt.py …");
  }
  const ScriptCommand& command = script.commands[found->command];
  Settings settings;
  settings.dialect = found->dialect;
  settings.followed = script.followed;
  for (const ScriptFile& file : script.written) {
    settings.written.push_back(written_text(file));
  }
  settings.framework_known = found->known;
  LaunchFacts facts = launch_facts(script, *found);
  settings.launch = std::move(facts.settings);
  settings.unresolved = std::move(facts.unresolved);
  add_environment(script, command, settings);
  if (found->known) {
    add_arguments(script, *found, settings);
  } else {
    settings.unresolved.push_back(
        {printable(command.words[found->program].at.text, 80),
         "whose program this is, and what its arguments mean, is not known",
         {std::string(name), command.line, 0, 0}});
  }
  if (found->others > 0) {
    settings.unresolved.push_back({fmt::format("{} training commands", found->others + 1),
                                   "the script starts several; only the first is read",
                                   {std::string(name), command.line, 0, 0}});
  }
  return settings;
}

}  // namespace sextant::emit
