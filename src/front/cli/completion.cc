// Shell completion, generated from the table of commands.
#include <fmt/format.h>

#include "base/text.h"
#include "front/cli/command.h"
#include "front/cli/exit_codes.h"

namespace sextant::front {
namespace {

std::string long_name(std::string_view spelled) {
  const auto names = split(spelled, ',');
  return std::string(names.back());
}

std::vector<const Command*> visible() {
  std::vector<const Command*> result;
  for (const Command& command : commands()) {
    if (!command.hidden) {
      result.push_back(&command);
    }
  }
  return result;
}

std::string names_of_commands() {
  std::vector<std::string> names;
  for (const Command* command : visible()) {
    names.emplace_back(command->name);
  }
  return join(names, " ");
}

std::vector<Option> options_of(const Command& command) {
  std::vector<Option> options = command.options;
  options.insert(options.end(), common_options().begin(), common_options().end());
  return options;
}

bool is_word_kind(std::string_view complete) {
  return !complete.empty() && complete != "files" && complete.find('|') == std::string_view::npos &&
         complete != "show";
}

// Bash words for one completion rule: a list, or a call of the program, or nothing (files).
std::string bash_words(std::string_view complete) {
  if (is_word_kind(complete)) {
    return fmt::format("$(sextant __complete {} 2>/dev/null)", complete);
  }
  std::string words(complete == "files" ? "" : complete);
  for (char& c : words) {
    c = c == '|' ? ' ' : c;
  }
  return words;
}

std::string bash() {
  std::string text =
      "# bash completion for sextant: source <(sextant completion bash)\n"
      "_sextant() {\n"
      "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" words=\"\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  text += fmt::format("    COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return\n  fi\n",
                      names_of_commands());
  text += "  case \"${COMP_WORDS[1]} $prev\" in\n";
  for (const Command* command : visible()) {
    for (const Option& option : options_of(*command)) {
      if (!option.value.empty() && option.complete != "files") {
        text +=
            fmt::format("    \"{} {}\") COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return;;\n",
                        command->name, long_name(option.name), bash_words(option.complete));
      }
    }
  }
  text += "  esac\n  case \"${COMP_WORDS[1]}\" in\n";
  for (const Command* command : visible()) {
    std::vector<std::string> names;
    for (const Option& option : options_of(*command)) {
      names.push_back(long_name(option.name));
    }
    std::string words = join(names, " ");
    if (!command->positionals.empty()) {
      words += " " + bash_words(command->positionals[0].complete);
    }
    text += fmt::format("    {}) words=\"{}\";;\n", command->name, words);
  }
  return text +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\") $(compgen -f -- \"$cur\"))\n"
         "}\n"
         "complete -o filenames -F _sextant sextant\n";
}

// Text between single quotes, for zsh and fish alike: a quote is closed, escaped and opened again.
std::string single_quoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted;
}

std::string zsh() {
  std::string text =
      "#compdef sextant\n"
      "# zsh completion for sextant: source <(sextant completion zsh)\n"
      "_sextant() {\n"
      "  local -a list\n"
      "  if (( CURRENT == 2 )); then\n"
      "    list=(\n";
  for (const Command* command : visible()) {
    text += fmt::format("      '{}:{}'\n", command->name, single_quoted(command->summary));
  }
  text +=
      "    )\n"
      "    _describe command list\n"
      "    return\n"
      "  fi\n"
      "  case \"${words[2]}\" in\n";
  for (const Command* command : visible()) {
    std::string options;
    for (const Option& option : options_of(*command)) {
      options += " " + long_name(option.name);
    }
    text += fmt::format("    {})\n      compadd --{}\n", command->name, options);
    const std::string_view complete =
        command->positionals.empty() ? std::string_view() : command->positionals[0].complete;
    if (is_word_kind(complete)) {
      text += fmt::format("      compadd -- ${{(f)\"$(sextant __complete {} 2>/dev/null)\"}}\n",
                          complete);
    } else if (!bash_words(complete).empty()) {
      text += fmt::format("      compadd -- {}\n", bash_words(complete));
    }
    text += "      _files;;\n";
  }
  return text + "  esac\n}\ncompdef _sextant sextant\n";
}

std::string fish() {
  std::string text = "# fish completion for sextant: sextant completion fish | source\n";
  for (const Command* command : visible()) {
    text += fmt::format("complete -c sextant -n __fish_use_subcommand -a {} -d '{}'\n",
                        command->name, single_quoted(command->summary));
    const std::string seen =
        fmt::format("complete -c sextant -n '__fish_seen_subcommand_from {}'", command->name);
    for (const Option& option : options_of(*command)) {
      text += fmt::format("{} -l {}{} -d '{}'\n", seen, long_name(option.name).substr(2),
                          option.value.empty() ? ""
                          : option.complete == "files"
                              ? " -r"
                              : fmt::format(" -x -a '{}'", bash_words(option.complete)),
                          single_quoted(option.help));
    }
    if (!command->positionals.empty() && is_word_kind(command->positionals[0].complete)) {
      text +=
          fmt::format("{} -a '(sextant __complete {})'\n", seen, command->positionals[0].complete);
    }
  }
  return text;
}

Result<Output> run_completion(const Arguments& arguments, const Session& /*session*/) {
  const std::vector<std::pair<std::string, std::string (*)()>> scripts{
      {"bash", bash}, {"zsh", zsh}, {"fish", fish}};
  std::vector<std::string> shells;
  for (const auto& [shell, script] : scripts) {
    if (arguments.one("SHELL") == shell) {
      return Output{script(), {}, kExitFine};
    }
    shells.push_back(shell);
  }
  const std::string hint = did_you_mean(arguments.one("SHELL"), shells);
  return invalid(fmt::format("'{}' is not a known shell{}{}", printable(arguments.one("SHELL")),
                             hint.empty() ? "" : "; ", hint),
                 "sextant completion", join(shells, ", "));
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .summary = "Completion for your shell",
          .examples = {"source <(sextant completion bash)", "source <(sextant completion zsh)",
                       "sextant completion fish | source"},
          .positionals = {{.name = "SHELL",
                           .help = "bash, zsh or fish",
                           .required = true,
                           .complete = "bash|zsh|fish"}},
          .options = {},
          .run = run_completion};
}

}  // namespace sextant::front
