// What a scheduler is told: #SBATCH and #PBS lines, and the variables that Slurm sets by them.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "emit/shell_reader.h"

namespace sextant::emit {
namespace {

constexpr std::string_view kHeaderBlanks = " \t\r";

// "select=4:ncpus=8:ngpus=8", "nodes=4:ppn=8": in Slurm's words.
std::vector<std::string> words_of_pbs(std::string_view resources) {
  std::vector<std::string> words;
  for (const std::string_view part : split(resources, ':')) {
    const std::size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    if (is_one_of(key, {"select", "nodes"}) && to_integer(value)) {
      words.push_back(fmt::format("--nodes={}", value));
    } else if (is_one_of(key, {"ngpus", "gpus"}) && to_integer(value)) {
      words.push_back(fmt::format("--gpus-per-node={}", value));
    }
  }
  return words;
}

}  // namespace

// #SBATCH --nodes=4, #PBS -l select=4:ngpus=8.
void ShellReader::read_batch_lines(std::string_view text, std::size_t base) {
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    const bool slurm = line.starts_with("#SBATCH");
    if ((slurm || line.starts_with("#PBS")) && script_.batch.size() < kMaxShellWords) {
      add_batch_words(line, base == kNoOrigin ? base : base + start, slurm);
    }
    start = end + 1;
  }
}

void ShellReader::add_batch_words(std::string_view line, std::size_t start, bool slurm) {
  std::size_t at = std::min(line.find_first_of(kHeaderBlanks), line.size());
  while (true) {
    at = line.find_first_not_of(kHeaderBlanks, at);
    if (at == std::string_view::npos || line[at] == '#') {
      return;
    }
    const std::size_t end = std::min(line.find_first_of(kHeaderBlanks, at), line.size());
    ShellRun run;
    run.text = line.substr(at, end - at);
    run.origin = start == kNoOrigin ? start : start + at;
    run.verbatim = start != kNoOrigin;
    at = end;
    if (slurm) {
      script_.batch.push_back(word_of({run}, {}, false));
      continue;
    }
    for (std::string& word : words_of_pbs(run.text)) {
      ShellRun made = run;
      made.text = std::move(word);
      made.verbatim = false;
      script_.batch.push_back(word_of({made}, {}, false));
    }
  }
}

void ShellReader::define_batch() {
  const auto nodes = option_value(script_.batch, {"--nodes", "-N"});
  const auto tasks = option_value(script_.batch, {"--ntasks-per-node"});
  auto devices = option_value(script_.batch, {"--gpus-per-node"});
  if (devices) {  // "h100:8"
    const std::size_t colon = devices->at.text.rfind(':');
    devices->at.text = devices->at.text.substr(colon == std::string::npos ? 0 : colon + 1);
    devices->at.place.length = 0;
  }
  define({"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}, nodes);
  define({"SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE"}, tasks);
  define({"SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"}, devices);
  define({"SLURM_NTASKS", "SLURM_NPROCS"}, option_value(script_.batch, {"--ntasks", "-n"}));
  const std::int64_t nodes_count = nodes ? to_integer(nodes->at.text).value_or(0) : 0;
  const std::int64_t tasks_count = tasks ? to_integer(tasks->at.text).value_or(0) : 0;
  if (nodes_count > 0 && tasks_count > 0) {
    const ShellRun run{.text = std::to_string(saturating_product({nodes_count, tasks_count}))};
    state_.define("SLURM_NTASKS", {run});
    state_.define("SLURM_NPROCS", {run});
  }
}

void ShellReader::define(std::initializer_list<std::string_view> names,
                         const std::optional<ScriptWord>& word) {
  if (!word || !word->why.empty() || !to_integer(word->at.text)) {
    return;
  }
  ShellRun run{.text = word->at.text};
  if (word->at.place.length == run.text.size() && word->at.place.file == name_) {
    run.origin = word->at.place.offset;
    run.verbatim = true;
  }
  for (const std::string_view variable : names) {
    state_.define(variable, {run});
  }
}

}  // namespace sextant::emit
