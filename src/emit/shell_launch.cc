#include "emit/shell_launch.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "emit/launched_devices.h"

namespace sextant::emit {
namespace {

constexpr std::int64_t kMostLaunched = 100'000'000;

struct Said {
  std::string name;  // "--nnodes"
  ScriptWord word;
};

using OptionNames = std::initializer_list<std::string_view>;

std::optional<Said> said_option(std::span<const ScriptWord> words, OptionNames names) {
  auto word = option_value(words, names);
  if (!word) {
    return std::nullopt;
  }
  return Said{std::string(*names.begin()), std::move(*word)};
}

// "h100:8", "gpu:8", "gpu:h100:8(S:0-1)": the last number counts.
void keep_count(ScriptWord& word) {
  std::string& text = word.at.text;
  const std::size_t bracket = std::min(text.find('('), text.size());
  const std::size_t colon = text.substr(0, bracket).rfind(':');
  const std::size_t start = colon == std::string::npos ? 0 : colon + 1;
  if (start == 0 && bracket == text.size()) {
    return;
  }
  const bool literal = word.at.place.length == text.size();
  text = text.substr(start, bracket - start);
  word.at.place.offset += literal ? start : 0;
  word.at.place.length = literal ? text.size() : 0;
}

std::optional<Said> slurm_devices(std::span<const ScriptWord> words) {
  auto found = said_option(words, {"--gpus-per-node"});
  if (!found) {
    found = said_option(words, {"--gres"});
    if (found && !found->word.at.text.starts_with("gpu")) {
      found.reset();
    }
  }
  if (!found) {
    return said_option(words, {"--ntasks-per-node"});
  }
  keep_count(found->word);
  return found;
}

template <typename... More>
std::optional<Said> first_of(std::optional<Said> first, More... more) {
  if constexpr (sizeof...(more) > 0) {
    return first ? std::move(first) : first_of(std::move(more)...);
  } else {
    return first;
  }
}

// A variable of the environment: before the command, or set in the script.
std::optional<Said> variable(const ShellScript& script, const TrainingCommand& found,
                             std::string_view name) {
  const auto is_it = [&](const ScriptVariable& one) {
    return one.name == name && one.values.size() == 1;
  };
  const auto& before = script.commands[found.command].environment;
  if (const auto one = std::ranges::find_if(before, is_it); one != before.end()) {
    return Said{one->name, one->values[0]};
  }
  if (const auto one = std::ranges::find_if(script.variables, is_it);
      one != script.variables.end()) {
    return Said{one->name, one->values[0]};
  }
  return std::nullopt;
}

class Facts {
 public:
  Facts(const ShellScript& script, const TrainingCommand& found)
      : script_(script), found_(found), words_(launcher_words(script, found)) {}

  LaunchFacts all() {
    const auto nodes = number("nodes", said_nodes());
    const auto per_node = number("devices_per_node", said_per_node());
    const auto devices = number("devices", said_devices());
    complete(nodes, per_node, devices);
    add_device();
    return std::move(facts_);
  }

 private:
  [[nodiscard]] std::optional<Said> said_nodes() const {
    return first_of(said_option(words_, {"--nnodes"}),
                    said_option(words_, {"--num_machines", "--num-machines"}),
                    said_option(words_, {"--num_nodes", "--num-nodes"}),
                    said_option(words_, {"--nodes", "-N"}),
                    said_option(script_.batch, {"--nodes", "-N"}));
  }

  [[nodiscard]] std::optional<Said> said_per_node() const {
    auto found = first_of(said_option(words_, {"--nproc_per_node", "--nproc-per-node"}),
                          said_option(words_, {"--num_gpus", "--num-gpus"}),
                          said_option(words_, {"-npernode", "--npernode"}));
    const std::string& program = script_.commands[found_.command].words[found_.program].at.text;
    if (!found && program.ends_with("run_train.sh")) {
      found = variable(script_, found_, "NGPU");
    }
    return first_of(std::move(found), slurm_devices(words_), slurm_devices(script_.batch));
  }

  [[nodiscard]] std::optional<Said> said_devices() const {
    const bool torchrun = found_.starter == Starter::kTorchrun;
    return first_of(
        said_option(words_, {"--num_processes", "--num-processes"}), said_option(words_, {"-np"}),
        torchrun ? std::nullopt : said_option(words_, {"--ntasks", "-n"}),
        torchrun ? std::nullopt : said_option(script_.batch, {"--ntasks", "-n"}),
        said_option(script_.batch, {"--gpus", "-G"}), variable(script_, found_, "WORLD_SIZE"));
  }

  std::optional<std::int64_t> number(std::string_view key, std::optional<Said> from) {
    if (!from) {
      return std::nullopt;
    }
    if (key == "devices") {
      keep_count(from->word);
    }
    const std::string what = fmt::format("{} {}", from->name, printable(from->word.at.text));
    if (!from->word.why.empty()) {
      open_.emplace_back(key);
      facts_.unresolved.push_back({what, from->word.why, from->word.at.place});
      return std::nullopt;
    }
    const auto value = to_integer(from->word.at.text);
    if (!value || *value < 1 || *value > kMostLaunched) {
      open_.emplace_back(key);
      facts_.unresolved.push_back({what, "it is no count", from->word.at.place});
      return std::nullopt;
    }
    facts_.settings.push_back({std::string(key), {std::to_string(*value)}, from->word.at.place});
    return value;
  }

  // What follows from the others. torchrun, deepspeed and accelerate start on this one node where
  // nothing is said.
  void complete(std::optional<std::int64_t> nodes, std::optional<std::int64_t> per_node,
                std::optional<std::int64_t> devices) {
    const auto is_open = [&](std::string_view key) {
      return std::ranges::find(open_, key) != open_.end();
    };
    const bool one_node =
        found_.starter != Starter::kPlain ||
        script_.commands[found_.command].words[found_.program].at.text.ends_with("run_train.sh");
    if (!nodes && devices && per_node && *devices % *per_node == 0) {
      nodes = add("nodes", *devices / *per_node);
    } else if (!nodes && !is_open("nodes") && one_node && (per_node || devices)) {
      nodes = add("nodes", 1);
    }
    // What the launcher starts counts more than a variable or a header beside it.
    if (nodes && per_node) {
      const std::int64_t product = saturating_product({*nodes, *per_node});
      if (!devices || *devices != product) {
        std::erase_if(facts_.settings, [](const Setting& one) { return one.key == "devices"; });
        std::erase_if(facts_.unresolved, [](const Unresolved& one) {
          return one.what.starts_with("WORLD_SIZE") || one.what.starts_with("--ntasks");
        });
        add("devices", product);
      }
    } else if (nodes && devices && *devices % *nodes == 0 && !is_open("devices_per_node")) {
      add("devices_per_node", *devices / *nodes);
    }
  }

  // Which device the scheduler is asked for, by the command's words, else the header's.
  void add_device() {
    std::string_view name;
    const ScriptWord* said = device_asked_for(words_, name);
    said = said != nullptr ? said : device_asked_for(script_.batch, name);
    if (said != nullptr) {
      Place place = said->at.place;
      place.length = 0;
      facts_.settings.push_back({"device", {std::string(name)}, std::move(place)});
    }
  }

  std::int64_t add(std::string_view key, std::int64_t value) {
    facts_.settings.push_back({std::string(key), {std::to_string(value)}, {}});
    return value;
  }

  const ShellScript& script_;
  const TrainingCommand& found_;
  std::span<const ScriptWord> words_;
  LaunchFacts facts_;
  std::vector<std::string> open_;  // keys that are said but not known
};

}  // namespace

LaunchFacts launch_facts(const ShellScript& script, const TrainingCommand& found) {
  return Facts(script, found).all();
}

}  // namespace sextant::emit
