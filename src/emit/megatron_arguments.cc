#include "emit/megatron_arguments.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/flags.h"
#include "emit/megatron_flag_table.h"

namespace sextant::emit {
namespace {

constexpr std::size_t kMostArgumentValues = 65536;

bool is_nothing(std::string_view value) {
  return value.empty() || value == "None" || value == "null" || value == "~";
}

// "torch.float32" → "float32", "AttnBackend.flash" → "flash".
std::string_view last_part(std::string_view value) {
  for (const std::string_view owner : {"torch.", "AttnBackend.", "CudaGraphScope."}) {
    if (value.starts_with(owner)) {
      return value.substr(owner.size());
    }
  }
  return value;
}

bool is_bracketed(std::string_view value) {
  return value.size() >= 2 && value.front() == '[' && value.back() == ']' &&
         value.find_first_of("[*", 1) == std::string_view::npos;
}

// The members of ConfigContainer. Source: Megatron-Bridge 067f987, training/config.py.
constexpr std::array kBridgeSections{"model",
                                     "train",
                                     "optimizer",
                                     "ddp",
                                     "scheduler",
                                     "dataset",
                                     "logger",
                                     "tokenizer",
                                     "checkpoint",
                                     "dist",
                                     "rng",
                                     "profiling",
                                     "validation",
                                     "peft",
                                     "mixed_precision",
                                     "comm_overlap",
                                     "straggler",
                                     "nvrx_straggler",
                                     "env_vars",
                                     "ft",
                                     "inprocess_restart",
                                     "rerun_state_machine",
                                     "tensor_inspect"};

std::string argument_words(const Setting& setting) {
  std::vector<std::string> words = flag_words(setting);
  return words.empty() ? fmt::format("{} {}", setting.key, join(setting.values, " "))
                       : join(words, " ");
}

std::string opposite(const std::string& value) {
  const std::string lower = to_lower(value);
  return lower == "false" || lower == "0" ? "true" : "false";
}

void add_renamed(const Setting& setting, std::string_view now, Arguments& arguments) {
  if (to_lower(setting.values.empty() ? "" : setting.values.front()) == "false") {
    return;
  }
  for (const std::string_view part : split(now, ';')) {
    const std::vector<std::string_view> pair = split(trimmed(part), ' ');
    if (pair.front().empty()) {
      continue;
    }
    Argument argument{.name = std::string(pair.front()),
                      .values = plain_values(setting.values),
                      .words = {},
                      .place = setting.place};
    if (pair.size() > 1) {
      argument.values = {std::string(pair[1])};
      argument.place.length = 0;
    }
    argument.words = fmt::format("{} (now {})", argument_words(setting),
                                 argument_words({argument.name, argument.values, {}}));
    arguments.push_back(std::move(argument));
  }
}

}  // namespace

const Spelling* spelling_of(std::string_view name) {
  const auto all = spellings();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Spelling& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const Argument* find(const Arguments& arguments, std::string_view name) {
  const auto found = std::find_if(arguments.rbegin(), arguments.rend(),
                                  [&](const Argument& one) { return one.name == name; });
  return found == arguments.rend() ? nullptr : &*found;
}

std::vector<std::string> plain_values(const std::vector<std::string>& values) {
  std::vector<std::string> plain;
  for (const std::string& value : values) {
    const std::string_view text = unquoted(trimmed(value));
    if (!is_bracketed(text)) {
      if (!is_nothing(text)) {
        plain.emplace_back(last_part(text));
      }
      continue;
    }
    for (const std::string_view part : split(text.substr(1, text.size() - 2), ',')) {
      if (!is_nothing(unquoted(trimmed(part))) && plain.size() < kMostArgumentValues) {
        plain.emplace_back(last_part(unquoted(trimmed(part))));
      }
    }
  }
  return plain;
}

void ArgumentWriter::number(std::string_view name, std::int64_t value) {
  words(name, {std::to_string(value)});
}

void ArgumentWriter::word(std::string_view name, std::string_view value) {
  words(name, {std::string(value)});
}

void ArgumentWriter::words(std::string_view name, std::vector<std::string> values) {
  arguments_.push_back({std::string(name), std::move(values), {}, {}});
}

void ArgumentWriter::flag(std::string_view name, bool on) {
  words(name, {on ? "true" : "false"});
}

const Argument* ArgumentReader::take(std::string_view name) {
  const Argument* argument = find(arguments_, name);
  if (argument == nullptr || argument->values.empty()) {
    return nullptr;
  }
  const bool known = std::any_of(
      reading_.facts.begin(), reading_.facts.end(),
      [&](const Fact& fact) { return fact.field == field_ && fact.words == argument->words; });
  if (!known && !field_.empty()) {
    reading_.facts.push_back({field_, {}, argument->words, argument->place});
  }
  return argument;
}

bool ArgumentReader::has(std::string_view name) const {
  const Argument* argument = find(arguments_, name);
  return argument != nullptr && !argument->values.empty();
}

std::optional<std::int64_t> ArgumentReader::number(std::string_view name, std::int64_t least,
                                                   std::int64_t most) {
  const Argument* argument = take(name);
  if (argument == nullptr) {
    return std::nullopt;
  }
  std::string digits = argument->values.back();
  std::erase(digits, '_');
  const auto value = to_integer(digits);
  if (!value || *value < least || *value > most) {
    unresolved(name, fmt::format("it is not a whole number from {} to {}", least, most));
    return std::nullopt;
  }
  return value;
}

std::optional<std::string> ArgumentReader::word(std::string_view name) {
  const Argument* argument = take(name);
  return argument == nullptr ? std::nullopt : std::optional(argument->values.back());
}

std::vector<std::string> ArgumentReader::words(std::string_view name) {
  const Argument* argument = take(name);
  return argument == nullptr ? std::vector<std::string>{} : argument->values;
}

bool ArgumentReader::flag(std::string_view name, bool otherwise) {
  const Argument* argument = take(name);
  if (argument == nullptr) {
    return otherwise;
  }
  const std::string value = to_lower(argument->values.back());
  if (value == "true" || value == "1" || value == "yes" || value == "on") {
    return true;
  }
  if (value == "false" || value == "0" || value == "no" || value == "off") {
    return false;
  }
  unresolved(name, "it is neither true nor false");
  return otherwise;
}

void ArgumentReader::unresolved(std::string_view name, std::string_view why) {
  const Argument* argument = find(arguments_, name);
  if (argument == nullptr) {
    reading_.unresolved.push_back({std::string(name), std::string(why), {}});
    return;
  }
  const Spelling* spelling = spelling_of(name);
  const bool bridge = program_ == Megatron::kBridge && spelling != nullptr;
  std::erase_if(reading_.facts, [&](const Fact& fact) {
    return fact.field == field_ && fact.words == argument->words;
  });
  reading_.unresolved.push_back({argument->words, std::string(why), argument->place,
                                 std::string(bridge ? spelling->bridge : name)});
}

Arguments arguments_of_flags(const std::vector<Setting>& given, const describe::DataStore& data,
                             Reading& reading) {
  const std::shared_ptr<const FlagTable> owned = flag_table(data);
  const FlagTable& table = *owned;
  Arguments arguments;
  for (const Setting& setting : given) {
    if (const auto renamed = table.renamed.find(setting.key); renamed != table.renamed.end()) {
      add_renamed(setting, renamed->second, arguments);
      continue;
    }
    Argument argument{setting.key, plain_values(setting.values), argument_words(setting),
                      setting.place};
    if (const auto flag = table.flags.find(setting.key); flag != table.flags.end()) {
      argument.name = flag->second.destination;
      if (flag->second.negates && !argument.values.empty()) {
        argument.values = {opposite(argument.values.back())};
      }
    } else if (!table.destinations.contains(setting.key)) {
      reading.unknown.push_back({setting.key, setting.place});
      continue;
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

Arguments arguments_of_overrides(const std::vector<Setting>& given, Reading& reading) {
  Arguments arguments;
  for (const Setting& setting : given) {
    const std::string_view key = setting.key;
    const std::string_view section = key.substr(0, key.find('.'));
    const auto all = spellings();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Spelling& one) {
      return !one.bridge.empty() && one.bridge == key;
    });
    std::string words = fmt::format("{}={}", key, join(setting.values, ","));
    if (found != all.end()) {
      Argument argument{std::string(found->name), plain_values(setting.values), std::move(words),
                        setting.place};
      if (found->bridge_negates && !argument.values.empty()) {
        argument.values = {opposite(argument.values.back())};
      }
      arguments.push_back(std::move(argument));
    } else if (key != "recipe" && !key.starts_with("_") &&
               std::find(kBridgeSections.begin(), kBridgeSections.end(), section) ==
                   kBridgeSections.end()) {
      reading.unknown.push_back({setting.key, setting.place});
    }
  }
  return arguments;
}

KnownKeys bridge_keys() {
  KnownKeys known{{}, {kBridgeSections.begin(), kBridgeSections.end()}};
  for (const Spelling& spelling : spellings()) {
    if (!spelling.bridge.empty()) {
      known.keys.emplace_back(spelling.bridge);
    }
  }
  return known;
}

std::vector<Setting> flags_of(const Arguments& arguments) {
  std::vector<Setting> settings;
  for (const Argument& argument : arguments) {
    const Spelling* spelling = spelling_of(argument.name);
    const bool negates = spelling != nullptr && spelling->flag_negates;
    const bool renamed = spelling != nullptr && !spelling->flag.empty();
    Setting setting{renamed ? std::string(spelling->flag) : argument.name, argument.values, {}};
    if (negates) {
      setting.values = {opposite(setting.values.back())};
    }
    if (setting.values != std::vector<std::string>{"false"}) {
      settings.push_back(std::move(setting));
    }
  }
  return settings;
}

std::vector<Setting> overrides_of(const Arguments& arguments) {
  // Lists stay lists where they have one element, and text that Hydra would take apart is quoted.
  static constexpr std::array kLists{"recompute_modules", "offload_modules", "cuda_graph_modules"};
  constexpr std::string_view kQuoted = "pipeline_model_parallel_layout";
  std::vector<Setting> settings;
  for (const Argument& argument : arguments) {
    const Spelling* spelling = spelling_of(argument.name);
    if (spelling == nullptr || spelling->bridge.empty()) {
      continue;
    }
    Setting setting{std::string(spelling->bridge), argument.values, {}};
    if (spelling->bridge_negates) {
      setting.values = {opposite(setting.values.back())};
    }
    std::string& first = setting.values.front();
    const bool list = std::find(kLists.begin(), kLists.end(), argument.name) != kLists.end();
    if (first != "null" && list && setting.values.size() == 1) {
      first = fmt::format("[{}]", first);
    } else if (first != "null" && argument.name == kQuoted) {
      first = fmt::format("'{}'", first);
    }
    settings.push_back(std::move(setting));
  }
  return settings;
}

}  // namespace sextant::emit
