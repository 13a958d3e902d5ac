#include "front/cli/parse.h"

#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.h"
#include "explain/provenance.h"
#include "front/cli/build_source.h"

namespace sextant::front {
namespace {

using Parsed = Result<std::variant<Invocation, Information>>;

// Examples first, then usage and options.
std::string command_help(const Command& command) {
  std::string text = fmt::format("{}\n", command.summary);
  if (!command.examples.empty()) {
    text += "\nExamples:\n";
  }
  for (const std::string& example : command.examples) {
    text += fmt::format("  {}\n", example);
  }
  std::string usage = fmt::format("sextant {}", command.name);
  for (const Positional& positional : command.positionals) {
    const std::string name = fmt::format("{}{}", positional.name, positional.many ? "..." : "");
    usage += positional.required ? " " + name : " [" + name + "]";
  }
  text += fmt::format("\nUsage: {} [options]\n\n", usage);
  const auto row = [&](std::string_view name, std::string_view help) {
    text += fmt::format("  {:<22} {}\n", name, help);
  };
  for (const Positional& positional : command.positionals) {
    row(positional.name, positional.help);
  }
  for (const Option& option : command.options) {
    row(fmt::format("{} {}", option.name, option.value), option.help);
  }
  for (const Option& option : common_options()) {
    row(fmt::format("{} {}", option.name, option.value), option.help);
  }
  row("-h,--help", "this text");
  return text;
}

std::string main_help() {
  std::string text =
      "sextant: the fastest way to train this model on this cluster, and why.\n\n"
      "Examples:\n"
      "  sextant model deepseek-v3\n"
      "  sextant cluster 64xh100-sxm\n"
      "  sextant estimate llama-3.1-70b --on 64xh100-sxm --layout tp=8,pp=4\n"
      "  sextant compare llama-3.1-70b --on 64xh100-sxm --layout tp=8,pp=4 --layout tp=4,pp=8\n"
      "  sextant explain KV-HEADS-TP\n\n"
      "Usage: sextant COMMAND [options]\n\nCommands:\n";
  for (const Command& command : commands()) {
    if (!command.hidden) {
      text += fmt::format("  {:<12} {}\n", command.name, command.summary);
    }
  }
  return text +
         "\n`sextant COMMAND --help` shows what a command takes. Exit codes: 0 fine, 1 the answer "
         "is no, "
         "2 bad usage or input, 3 something outside failed.\n";
}

std::string version_text() {
  const BuildSource source = build_source();
  return fmt::format("sextant {} ({})\n", explain::tool_version(),
                     source.commit.empty()
                         ? std::string("commit unknown")
                         : fmt::format("commit {}, {}", source.commit, source.date));
}

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names{"--help"};
  const auto add = [&](std::string_view spelled) {
    for (const std::string_view name : split(spelled, ',')) {
      names.emplace_back(name);
    }
  };
  for (const Option& option : command.options) {
    add(option.name);
  }
  for (const Option& option : common_options()) {
    add(option.name);
  }
  return names;
}

// What CLI11 stores into, by the name of our tables.
struct Bound {
  std::map<std::string, std::vector<std::string>> values;  // options, positionals that repeat
  std::map<std::string, std::string> words;                // positionals that do not
  std::map<std::string, bool> flags;
};

// `repeats`: the last of several stands.
void bind(CLI::App& app, const Option& option, bool repeats, Bound& bound) {
  const std::string& name = option.name;
  if (option.value.empty()) {
    app.add_flag(name, bound.flags[name]);
  } else {
    // One value each time: what follows it may be a positional.
    CLI::Option* bind = app.add_option(name, bound.values[name])->expected(1);
    bind->allow_extra_args(false);
    repeats ? bind->take_last() : bind->take_all();
  }
}

void bind(CLI::App& app, const Command& command, Bound& bound) {
  app.set_help_flag();
  for (const Positional& positional : command.positionals) {
    const std::string& name = positional.name;
    if (positional.many) {
      app.add_option(name, bound.values[name]);
    } else {
      app.add_option(name, bound.words[name]);
    }
  }
  for (const Option& option : command.options) {
    bind(app, option, false, bound);
  }
  for (const Option& option : common_options()) {
    bind(app, option, true, bound);  // settings, which a wrapper's words may be followed by
  }
}

Error usage_error(const Command& command, std::string what, std::string allowed = {}) {
  return {ErrorKind::kInvalid, std::move(what), fmt::format("sextant {}", command.name),
          std::move(allowed)};
}

// An argument the command does not take: the nearest options, or how many positionals there are.
Error extra_argument(const Command& command, const std::string& extra) {
  if (!extra.starts_with('-')) {
    return usage_error(command, fmt::format("'{}' is one argument too many", printable(extra)),
                       fmt::format("see sextant {} --help", command.name));
  }
  const std::vector<std::string> names = option_names(command);
  const std::string hint = did_you_mean(extra.substr(0, extra.find('=')), names);
  return usage_error(
      command,
      fmt::format("'{}' is not an option{}{}", printable(extra), hint.empty() ? "" : "; ", hint),
      join(names, ", "));
}

// --json, -o, --color and --data are settings like those of the configuration files.
std::map<std::string, app::Setting> setting_flags(const Bound& bound) {
  std::map<std::string, app::Setting> flags;
  const auto take = [&](const std::string& option, const std::string& key, const char* shown) {
    if (const auto& given = bound.values.at(option); !given.empty()) {
      flags[key] = {given.back(), fmt::format("flag {}", shown)};
    }
  };
  take("-o,--output", "output", "--output");
  take("--color", "color", "--color");
  take("--data", "data", "--data");
  if (bound.flags.at("--json")) {
    flags["output"] = {"json", "flag --json"};
  }
  return flags;
}

// Another program's words, which no option of ours may be looked for in.
std::vector<std::string> take_command(const Command& command, std::vector<std::string>& rest) {
  const auto mark = std::find(rest.begin(), rest.end(), "--");
  if (!command.takes_command || mark == rest.end()) {
    return {};
  }
  std::vector<std::string> words(mark + 1, rest.end());
  rest.erase(mark, rest.end());
  return words;
}

Parsed parse_with(const Command& command, std::vector<std::string> rest) {
  std::vector<std::string> of_other = take_command(command, rest);
  if (std::any_of(rest.begin(), rest.end(),
                  [](const std::string& word) { return word == "-h" || word == "--help"; })) {
    return Information{command_help(command)};
  }
  CLI::App parser;
  Bound bound;
  bind(parser, command, bound);
  try {
    std::reverse(rest.begin(), rest.end());  // CLI11 takes its arguments from the back
    parser.allow_extras();
    parser.parse(std::move(rest));
  } catch (const CLI::Error& error) {
    return tl::unexpected(usage_error(command, printable(error.what(), 300)));
  }
  if (const auto extras = parser.remaining(); !extras.empty()) {
    return tl::unexpected(extra_argument(command, extras.front()));
  }
  Invocation invocation;
  invocation.command = &command;
  invocation.flags = setting_flags(bound);
  for (const Positional& positional : command.positionals) {
    const std::string& name = positional.name;
    for (std::string& value : bound.values[name]) {
      invocation.arguments.add(name, std::move(value));
    }
    for (std::string& value : of_other) {
      invocation.arguments.add(name, std::move(value));
    }
    if (std::string& word = bound.words[name]; !word.empty()) {
      invocation.arguments.add(name, std::move(word));
    }
    if (positional.required && !invocation.arguments.has(name)) {
      return tl::unexpected(
          usage_error(command, fmt::format("{} is missing", name), positional.help));
    }
  }
  for (const Option& option : command.options) {
    const std::string& name = option.name;
    if (option.value.empty() && bound.flags[name]) {
      invocation.arguments.add(name, "1");
    }
    std::vector<std::string>& values = bound.values[name];
    if (!option.many && values.size() > 1) {
      return tl::unexpected(
          usage_error(command,
                      fmt::format("{} is given {} times: '{}' and '{}'", name, values.size(),
                                  printable(values[values.size() - 2]), printable(values.back())),
                      "one of them"));
    }
    for (std::string& value : values) {
      invocation.arguments.add(name, std::move(value));
    }
  }
  return invocation;
}

}  // namespace

Parsed parse_command_line(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "-h" || arguments[0] == "--help" ||
      arguments[0] == "help") {
    return Information{main_help()};
  }
  if (arguments[0] == "--version" || arguments[0] == "version") {
    return Information{version_text()};
  }
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == arguments[0]) {
      return parse_with(command, {arguments.begin() + 1, arguments.end()});
    }
    if (!command.hidden) {
      names.emplace_back(command.name);
    }
  }
  const std::string hint = did_you_mean(arguments[0], names);
  return invalid(fmt::format("'{}' is not a command{}{}", printable(arguments[0]),
                             hint.empty() ? "" : "; ", hint),
                 "sextant", join(names, ", "));
}

}  // namespace sextant::front
