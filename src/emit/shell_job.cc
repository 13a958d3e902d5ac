#include "emit/shell_job.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/other_words.h"
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

// What one command says.
Settings settings_of_command(const ShellScript& script, const TrainingCommand& found,
                             std::string_view name) {
  const ScriptCommand& command = script.commands[found.command];
  Settings settings;
  settings.dialect = found.dialect;
  settings.framework_known = found.known;
  LaunchFacts facts = launch_facts(script, found);
  settings.launch = std::move(facts.settings);
  settings.unresolved = std::move(facts.unresolved);
  add_environment(script, command, settings);
  if (found.known) {
    add_arguments(script, found, settings);
  } else {
    const Place place{command.file.empty() ? std::string(name) : command.file, command.line, 0, 0};
    settings.unresolved.push_back(
        {printable(command.words[found.program].at.text, 80),
         "whose program this is, and what its arguments mean, is not known", place});
  }
  return settings;
}

std::string joined_values(const Setting* setting) {
  return setting == nullptr ? "nothing" : join(setting->values, " ");
}

// Of settings that several commands say, one of which runs, those stay that all of them say.
// What differs is not known.
void keep_agreed(std::vector<Setting>& mine, const std::vector<Setting>& theirs, bool launch,
                 std::vector<Unresolved>& unresolved) {
  std::vector<std::string> open;
  const auto differs = [&](const Setting& one) {
    const Setting* here = find(mine, one.key);
    const Setting* there = find(theirs, one.key);
    const bool same = here != nullptr && there != nullptr && here->values == there->values;
    if (!same && std::ranges::find(open, one.key) == open.end()) {
      open.push_back(one.key);
      unresolved.push_back({fmt::format("{}: {} or {}", one.key, printable(joined_values(here), 60),
                                        printable(joined_values(there), 60)),
                            "which of several commands runs is not known", one.place,
                            launch ? std::string() : one.key, one.key == "config_file"});
    }
  };
  std::ranges::for_each(mine, differs);
  std::ranges::for_each(theirs, differs);
  std::erase_if(mine,
                [&](const Setting& one) { return std::ranges::find(open, one.key) != open.end(); });
}

void agree_with(const Settings& other, Settings& settings) {
  if (other.dialect != settings.dialect || other.framework_known != settings.framework_known ||
      other.program != settings.program) {
    settings.framework_known = false;
  }
  keep_agreed(settings.given, other.given, false, settings.unresolved);
  keep_agreed(settings.launch, other.launch, true, settings.unresolved);
  settings.unresolved.insert(settings.unresolved.end(), other.unresolved.begin(),
                             other.unresolved.end());
}

// A job of another program: read where all of it stands in the files that it names, else refused.
Result<Settings> other_job(std::string_view other, const ScriptCommand& command,
                           std::string_view name) {
  Settings settings;
  settings.program = other == "GPT-NeoX" ? kNeox : other == "llm-foundry" ? kFoundry : "";
  settings.dialect = other == "GPT-NeoX" ? Dialect::kMegatron : Dialect::kAccelerate;
  for (const ScriptWord& word : command.words) {
    if (word.why.empty() && (word.at.text.ends_with(".yml") || word.at.text.ends_with(".yaml"))) {
      settings.launch.push_back({"config_file", {word.at.text}, word.at.place});
    }
  }
  if (settings.program.empty() || settings.launch.empty()) {
    return not_read(other, fmt::format("{}:{}", name, command.line));
  }
  return settings;
}

// The command that starts somebody's program by name.
std::optional<Result<Settings>> started_by_another(const ShellScript& script,
                                                   const std::vector<TrainingCommand>& found,
                                                   std::string_view name) {
  if (!found.empty()) {
    const ScriptCommand& command = script.commands[found.front().command];
    if (const auto other = other_in_command(command.words)) {
      return other_job(*other, command, name);
    }
  }
  if (found.empty() || !found.front().known) {
    for (const ScriptCommand& command : script.commands) {
      if (const auto other = other_in_command(command.words)) {
        return other_job(*other, command, name);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Result<Settings> parse_shell(std::string_view text, std::string_view name,
                             const ShellInvocation& invocation) {
  SEXTANT_TRY(const ShellScript script, read_shell_script(text, name, invocation));
  return settings_of_commands(script, name);
}

Result<Settings> settings_of_commands(const ShellScript& script, std::string_view name) {
  const std::vector<TrainingCommand> found = training_commands(script);
  if (auto other = started_by_another(script, found, name)) {
    return *std::move(other);
  }
  if (found.empty()) {
    return invalid("no command of the script starts a training", std::string(name),
                   "torchrun, srun, mpirun, deepspeed, accelerate launch or python before "
                   "a program, e.g. torchrun --nproc_per_node 8 pretrain_gpt.py …; files that it "
                   "reads or starts are looked for beside it");
  }
  constexpr std::size_t kMostRivals = 16;
  Settings settings = settings_of_command(script, found.front(), name);
  const ScriptCommand& command = script.commands[found.front().command];
  if (command.may_run) {
    for (std::size_t i = 1; i < std::min(found.size(), kMostRivals); ++i) {
      agree_with(settings_of_command(script, found[i], name), settings);
    }
  }
  if (found.size() > 1) {
    settings.unresolved.push_back(
        {fmt::format("{} training commands", found.size()),
         command.may_run ? "which of them runs is not known: what all of them say is shown"
                         : "the script starts several; only the first is read",
         {std::string(name), command.line, 0, 0}});
  }
  settings.followed = script.followed;
  for (const ScriptFile& file : script.written) {
    settings.written.push_back(written_text(file));
  }
  return settings;
}

}  // namespace sextant::emit
