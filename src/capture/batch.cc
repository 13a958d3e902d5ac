#include "capture/batch.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/shell_script.h"

namespace sextant::capture {
namespace {

constexpr std::size_t kMostHosts = 100'000;
constexpr std::size_t kMostBatchWords = 1'000;

std::string option_of(const std::vector<std::string>& words,
                      std::initializer_list<std::string_view> spellings) {
  std::vector<emit::ScriptWord> script;
  for (const std::string& word : words) {
    script.emplace_back();
    script.back().at.text = word;
  }
  const auto found = emit::option_value(script, spellings);
  return found ? found->at.text : std::string();
}

// "gpu:h100:8", "h100:8", "8": the last number.
std::string count_of(std::string_view text) {
  const std::string_view last = text.substr(text.rfind(':') + 1);
  return to_integer(last) ? std::string(last) : std::string();
}

std::string first_said(std::initializer_list<std::string> options) {
  for (const std::string& one : options) {
    if (!one.empty()) {
      return one;
    }
  }
  return {};
}

std::string number_or_nothing(int value) {
  return value > 0 ? std::to_string(value) : std::string();
}

// The hosts of one part, "n[0-2,7]" or "n5".
void add_hosts(std::string_view part, std::vector<std::string>& hosts) {
  const std::size_t open = part.find('[');
  if (open == std::string_view::npos || !part.ends_with(']')) {
    hosts.emplace_back(part);
    return;
  }
  const std::string_view stem = part.substr(0, open);
  for (const std::string_view range : split(part.substr(open + 1, part.size() - open - 2), ',')) {
    const std::size_t dash = range.find('-');
    const std::string_view from_text = range.substr(0, dash);
    const auto from = to_integer(from_text);
    const auto to = dash == std::string_view::npos ? from : to_integer(range.substr(dash + 1));
    for (std::int64_t i = from.value_or(0); from && to && i <= *to && hosts.size() < kMostHosts;
         ++i) {
      hosts.push_back(fmt::format("{}{:0{}}", stem, i, from_text.size()));
    }
  }
}

}  // namespace

std::vector<std::string> batch_words(std::string_view script) {
  std::vector<std::string> words;
  for (const std::string_view line : split(script, '\n')) {
    constexpr std::string_view kMark = "#SBATCH";
    if (!line.starts_with(kMark)) {
      continue;
    }
    std::string_view rest = line.substr(kMark.size());
    while (words.size() < kMostBatchWords) {
      rest = trimmed(rest);
      if (rest.empty() || rest[0] == '#') {
        break;
      }
      const std::size_t end = std::min(rest.find_first_of(" \t\r"), rest.size());
      words.emplace_back(rest.substr(0, end));
      rest.remove_prefix(end);
    }
  }
  return words;
}

std::vector<std::pair<std::string, std::string>> batch_variables(
    const std::vector<std::string>& words, const Answers& answers) {
  const std::string nodes =
      first_said({number_or_nothing(answers.nodes), option_of(words, {"--nodes", "-N"})});
  const std::string devices = first_said({number_or_nothing(answers.devices_per_node),
                                          count_of(option_of(words, {"--gpus-per-node"})),
                                          count_of(option_of(words, {"--gres"}))});
  const std::string tasks_per_node = option_of(words, {"--ntasks-per-node"});
  std::string tasks = option_of(words, {"--ntasks", "-n"});
  const auto node_count = to_integer(nodes);
  const auto per_node = to_integer(tasks_per_node);
  if (node_count && per_node && *node_count > 0 && *per_node > 0 && *node_count < 1'000'000 &&
      *per_node < 1'000'000) {
    tasks = std::to_string(*node_count * *per_node);
  }
  std::vector<std::pair<std::string, std::string>> variables{
      {"SLURM_JOB_ID", "1"}, {"SLURM_JOBID", "1"},   {"SLURM_PROCID", "0"},
      {"SLURM_NODEID", "0"}, {"SLURM_LOCALID", "0"}, {"SLURM_JOB_NAME", "job"}};
  const auto add = [&](std::initializer_list<std::string_view> names, const std::string& value) {
    for (const std::string_view name : names) {
      if (!value.empty()) {
        variables.emplace_back(name, value);
      }
    }
  };
  add({"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}, nodes);
  add({"SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE"}, tasks_per_node);
  add({"SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"}, devices);
  add({"SLURM_NTASKS", "SLURM_NPROCS"}, tasks);
  add({"SLURM_CPUS_PER_TASK"}, option_of(words, {"--cpus-per-task", "-c"}));
  if (node_count && *node_count > 0) {
    add({"SLURM_JOB_NODELIST", "SLURM_NODELIST"}, fmt::format("node[0-{}]", *node_count - 1));
  }
  return variables;
}

std::vector<std::string> host_names(std::string_view list) {
  std::vector<std::string> hosts;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size() && hosts.size() < kMostHosts; ++i) {
    const char c = i < list.size() ? list[i] : ',';
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      if (i > start) {
        add_hosts(list.substr(start, i - start), hosts);
      }
      start = i + 1;
    }
  }
  return hosts;
}

}  // namespace sextant::capture
