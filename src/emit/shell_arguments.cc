#include "emit/shell_arguments.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/flags.h"
#include "emit/other_words.h"
#include "emit/torchtitan.h"
#include "emit/trainer_flags.h"

namespace sextant::emit {
namespace {

// "$EXTRA_ARGS", "$@": nobody knows whether it is a value or a list of flags, but its name says so.
bool is_argument_list(const ScriptWord& word) {
  if (!word.may_split) {
    return false;
  }
  const std::string lower = to_lower(word.at.text);
  return std::ranges::any_of(
      std::array<std::string_view, 6>{"arg", "opt", "flag", "@", "*", "extra"},
      [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

// "--flag=8" as two words: the place of such a word is its value's already.
void push_word(std::vector<WordAt>& words, const WordAt& word) {
  const std::size_t equals = word.text.find('=');
  const bool joined = is_option(word.text) && equals != std::string::npos &&
                      !is_option(std::string_view(word.text).substr(equals + 1));
  if (!joined) {
    words.push_back(word);
    return;
  }
  Place flag = word.place;
  flag.length = 0;
  words.push_back({word.text.substr(0, equals), std::move(flag)});
  words.push_back({word.text.substr(equals + 1), word.place});
}

// Takes the flag that is still open, with the values it has, off the known words.
std::string take_open_flag(std::vector<WordAt>& known) {
  std::size_t flag = known.size();
  while (flag > 0 && !is_option(known[flag - 1].text)) {
    --flag;
  }
  std::string what;
  if (flag > 0) {
    for (std::size_t i = flag - 1; i < known.size(); ++i) {
      what += known[i].text + ' ';
    }
    known.resize(flag - 1);
  }
  return what;
}

// The words whose text is known. What is not goes to `unresolved`, with the flag it belongs to: a
// flag with an unknown value is no switch.
std::vector<WordAt> known_words(std::span<const ScriptWord> words,
                                std::vector<Unresolved>& unresolved) {
  std::vector<WordAt> known;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].why.empty()) {
      push_word(known, words[i].at);
      continue;
    }
    Unresolved one{words[i].at.text, words[i].why, words[i].at.place};
    const bool flag = is_option(one.what);
    const std::string open =
        flag || is_argument_list(words[i]) ? std::string() : take_open_flag(known);
    one.any = words[i].may_split && !flag && open.empty();
    one.what.insert(0, open);
    // Further values go along: those of the open flag, or of a flag that is there in a branch only.
    const bool joined = one.what.find('=') != std::string::npos;
    while (i + 1 < words.size() && !is_option(words[i + 1].at.text) &&
           (!open.empty() || (flag && !joined && words[i + 1].why == one.why))) {
      one.what += ' ' + words[++i].at.text;
    }
    one.what = printable(one.what, 160);
    unresolved.push_back(std::move(one));
  }
  return known;
}

// Several values that stand side by side in the file have one place after all.
void join_places(std::span<const WordAt> words, std::vector<Setting>& settings) {
  std::size_t at = 0;
  while (at < words.size() && !is_option(words[at].text)) {
    ++at;
  }
  for (Setting& setting : settings) {
    const std::size_t first = ++at;
    while (at < words.size() && !is_option(words[at].text)) {
      ++at;
    }
    if (at - first < 2 || setting.values.size() != at - first) {
      continue;
    }
    bool beside = true;
    for (std::size_t i = first; i < at; ++i) {
      beside = beside && words[i].place.length == words[i].text.size() &&
               (i == first ||
                words[i].place.offset == words[i - 1].place.offset + words[i - 1].place.length + 1);
    }
    if (beside) {
      setting.place = words[first].place;
      setting.place.length =
          words[at - 1].place.offset + words[at - 1].place.length - words[first].place.offset;
    }
  }
}

std::vector<Setting> placed_flags(std::span<const WordAt> words) {
  std::vector<Setting> settings = parse_flags(words);
  join_places(words, settings);
  return settings;
}

// "[a, 'b']" has two values, all else is one.
std::vector<std::string> override_values(std::string_view text) {
  if (text.size() < 2 || !text.starts_with('[') || !text.ends_with(']')) {
    return {std::string(text)};
  }
  std::vector<std::string> values;
  for (const std::string_view part : split(text.substr(1, text.size() - 2), ',')) {
    std::string_view item = trimmed(part);
    const bool quoted = item.size() >= 2 && item.front() == item.back() &&
                        (item.front() == '\'' || item.front() == '"');
    item = quoted ? item.substr(1, item.size() - 2) : item;
    if (!item.empty()) {
      values.emplace_back(item);
    }
  }
  return values;
}

// "key=value" words become settings, the others are left in `rest`.
std::vector<Setting> take_overrides(std::span<const WordAt> words, std::vector<WordAt>& rest) {
  std::vector<Setting> settings;
  for (const WordAt& word : words) {
    const std::size_t equals = word.text.find('=');
    if (is_option(word.text) || equals == std::string::npos || equals == 0) {
      rest.push_back(word);
      continue;
    }
    std::string_view key = std::string_view(word.text).substr(0, equals);
    key.remove_prefix(std::min(key.find_first_not_of('+'), key.size()));
    settings.push_back({std::string(key),
                        override_values(std::string_view(word.text).substr(equals + 1)),
                        word.place});
  }
  return settings;
}

// Flags of the user's own program, which the framework does not know.
std::vector<Setting> program_flags(std::span<const WordAt> words) {
  std::vector<Setting> flags = placed_flags(words);
  for (Setting& setting : flags) {
    setting.key.insert(0, kProgramFlag);
  }
  return flags;
}

// Moves the file named by one of these keys to the launch settings.
void take_config_file(Settings& settings, std::initializer_list<std::string_view> keys) {
  std::erase_if(settings.given, [&](const Setting& one) {
    const bool file = is_one_of(one.key, keys) && one.values.size() == 1 && one.values[0] != "true";
    if (file) {
      settings.launch.push_back({"config_file", one.values, one.place});
    }
    return file;
  });
}

// accelerate's flags are its file's keys, those of a table without the table's name.
void add_accelerate_flags(std::span<const WordAt> words, Settings& settings) {
  for (Setting& setting : placed_flags(words)) {
    if (setting.key.starts_with("fsdp_")) {
      setting.key = "fsdp_config." + setting.key;
    } else if (setting.key.starts_with("parallelism_config_")) {
      setting.key = "parallelism_config." + setting.key;
    } else if (setting.key.starts_with("zero") || setting.key.starts_with("deepspeed_") ||
               is_one_of(setting.key, {"gradient_accumulation_steps", "gradient_clipping",
                                       "offload_optimizer_device", "offload_param_device"})) {
      setting.key = "deepspeed_config." + setting.key;
    } else if (setting.key == "use_fsdp" || setting.key == "use_deepspeed") {
      setting = {"distributed_type",
                 {setting.key == "use_fsdp" ? "FSDP" : "DEEPSPEED"},
                 {setting.place.file, setting.place.line, 0, 0}};
    } else if (setting.key == "multi_gpu") {
      setting = {"distributed_type", {"MULTI_GPU"}, {setting.place.file, setting.place.line, 0, 0}};
    }
    settings.given.push_back(std::move(setting));
  }
  take_config_file(settings, {"config_file"});
}

// The variables that torchtitan's run_train.sh takes its arguments from.
void add_run_train_variables(const ShellScript& script, const TrainingCommand& found,
                             Settings& settings) {
  const auto add = [&](const ScriptVariable& variable) {
    if (variable.values.size() != 1 || !variable.values[0].why.empty()) {
      return;
    }
    const WordAt& word = variable.values[0].at;
    if (variable.name == "MODULE" || variable.name == "CONFIG") {
      settings.given.push_back({to_lower(variable.name), {word.text}, word.place});
    } else if (variable.name == "CONFIG_FILE") {
      settings.launch.push_back({"config_file", {word.text}, word.place});
      settings.dialect = Dialect::kTorchtitanToml;
    }
  };
  for (const ScriptVariable& variable : script.variables) {
    if (variable.exported) {
      add(variable);
    }
  }
  std::ranges::for_each(script.commands[found.command].environment, add);
}

void add_maxtext(std::span<const WordAt> words, Settings& settings) {
  std::vector<WordAt> rest;
  append(settings.given, take_overrides(words, rest));
  for (const WordAt& word : rest) {
    if (word.text.ends_with(".yml") || word.text.ends_with(".yaml")) {
      settings.launch.push_back({"config_file", {word.text}, word.place});
      return;
    }
  }
}

bool is_performance_script(std::string_view program) {
  const std::string_view base = base_name(program);
  return base == "run_script.py" || base.ends_with("setup_experiment.py");
}

void add_bridge(std::span<const WordAt> words, Settings& settings) {
  std::vector<WordAt> rest;
  std::vector<Setting> overrides = take_overrides(words, rest);
  append(settings.given, placed_flags(rest));
  append(settings.given, std::move(overrides));
  take_config_file(settings, {"config_file"});
}

// The words of the program as settings of its dialect.
void add_program_words(const ShellScript& script, const TrainingCommand& found,
                       std::span<const WordAt> words, Settings& settings) {
  switch (settings.dialect) {
    case Dialect::kMegatron:
      append(settings.given, placed_flags(words));
      take_config_file(settings, {"deepspeed_config", "yaml_cfg"});
      return;
    case Dialect::kBridge:
      if (is_performance_script(script.commands[found.command].words[found.program].at.text)) {
        append(settings.given, placed_flags(words));
        return;
      }
      add_bridge(words, settings);
      return;
    case Dialect::kTorchtitan:
    case Dialect::kTorchtitanToml:
      if (script.commands[found.command].words[found.program].at.text.ends_with("run_train.sh")) {
        add_run_train_variables(script, found, settings);
      }
      append(settings.given, torchtitan_overrides(words));
      take_config_file(settings, {"job.config_file"});
      return;
    case Dialect::kMaxtext:
      add_maxtext(words, settings);
      return;
    case Dialect::kAccelerate:
      append(settings.given, program_flags(words));
      return;
    case Dialect::kDeepspeed:
      append(settings.given, program_flags(words));
      take_config_file(settings, {"program.deepspeed_config", "program.deepspeed"});
      return;
    case Dialect::kNanotron: {
      std::vector<WordAt> rest;
      append(settings.given, take_overrides(words, rest));
      append(settings.given, placed_flags(rest));
      take_config_file(settings, {"config_file"});
      return;
    }
  }
}

// accelerate's own flags, before the program.
void add_accelerate_launch(std::span<const ScriptWord> before, Settings& settings) {
  const auto launch = std::ranges::find_if(before, [](const ScriptWord& word) {
    return word.at.text == "launch" || word.at.text == "accelerate.commands.launch";
  });
  std::vector<Unresolved> of_launcher;
  add_accelerate_flags(
      known_words(before.subspan(static_cast<std::size_t>(launch - before.begin())), of_launcher),
      settings);
}

// Which setting an unresolved word would have been: the dialect's own reading of its flag. A file
// of settings that is not known may hold anything.
void name_unresolved(const ShellScript& script, const TrainingCommand& found,
                     std::span<Unresolved> unresolved, Settings settings) {
  for (Unresolved& one : unresolved) {
    const std::string_view flag =
        std::string_view(one.what).substr(0, one.what.find_first_of(" ="));
    const bool override = !is_option(flag) && one.what.find('=') != std::string::npos;
    if (!is_option(flag) && !override) {
      continue;
    }
    settings.given.clear();
    settings.launch.clear();
    const std::vector<WordAt> words =
        override ? std::vector<WordAt>{{std::string(flag) + "=?", one.place}}
                 : std::vector<WordAt>{{std::string(flag), one.place}, {"?", one.place}};
    add_program_words(script, found, words, settings);
    for (const Setting& setting : settings.given) {
      if (setting.values == std::vector<std::string>{"?"}) {
        one.key = setting.key;
      }
    }
    for (const Setting& setting : settings.launch) {
      one.any =
          one.any || (setting.key == "config_file" && setting.values.front() == "?" &&
                      settings.dialect != Dialect::kMegatron);  // whose layout is in its flags
    }
  }
}

}  // namespace

void add_arguments(const ShellScript& script, const TrainingCommand& found, Settings& settings) {
  std::vector<Unresolved> unresolved;
  const std::span<const ScriptWord> written = program_words(script, found);
  std::vector<ScriptWord> named(written.begin(), written.end());
  for (ScriptWord& word : named) {  // the script's own file, whatever its name comes to
    const bool own = std::ranges::any_of(
        script.written, [&](const ScriptFile& file) { return file.name == word.at.text; });
    word.why = own ? std::string() : word.why;
  }
  const std::vector<WordAt> words = known_words(named, unresolved);
  Settings asked;
  asked.dialect = settings.dialect;
  name_unresolved(script, found, unresolved, std::move(asked));
  settings.unresolved.insert(settings.unresolved.end(), std::make_move_iterator(unresolved.begin()),
                             std::make_move_iterator(unresolved.end()));
  if (settings.dialect == Dialect::kAccelerate) {
    add_accelerate_launch(launcher_words(script, found), settings);
  }
  add_program_words(script, found, words, settings);
  if (settings.dialect == Dialect::kBridge &&
      is_performance_script(script.commands[found.command].words[found.program].at.text)) {
    settings = bridge_of_performance(settings);
  }
}

}  // namespace sextant::emit
