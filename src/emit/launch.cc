#include "emit/launch.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/flags.h"
#include "emit/setting_values.h"

namespace sextant::emit {
namespace {

std::string launch_value(const Settings& settings, std::string_view key) {
  const Setting* found = find(settings.launch, key);
  return found != nullptr && found->values.size() == 1 ? found->values[0] : "1";
}

// The arrays Megatron's flags are grouped in, by words in their keys; the first that fits.
struct Topic {
  std::string_view array;
  std::array<std::string_view, 9> words;
};
constexpr std::array<Topic, 4> kTopics{
    {{"PARALLEL_ARGS",
      {"parallel", "overlap", "distributed_optimizer", "fsdp", "virtual", "pipeline_num_layers",
       "pipeline_split", "cp_comm", "ddp"}},
     {"MOE_ARGS", {"moe", "expert", "num_experts"}},
     {"PRECISION_ARGS", {"fp8", "fp4", "bf16", "fp16", "dtype", "precision"}},
     {"TRAINING_ARGS",
      {"batch", "recompute", "optimizer", "offload", "train_", "lr", "cuda_graph", "fusion",
       "data"}}}};
constexpr std::string_view kModelArray = "MODEL_ARGS";

std::string_view topic_of(std::string_view key) {
  for (const Topic& topic : kTopics) {
    for (const std::string_view word : topic.words) {
      if (!word.empty() && key.find(word) != std::string_view::npos) {
        return topic.array;
      }
    }
  }
  return kModelArray;
}

std::string quoted_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + shell_quoted(word);
  }
  return text;
}

// The program and its arguments: lines before the command, and the command's own end.
struct Call {
  std::string before;
  std::string command;
};

Call megatron_call(const Settings& settings) {
  Call call{"", "pretrain_gpt.py"};
  for (const std::string_view array :
       {kModelArray, kTopics[0].array, kTopics[1].array, kTopics[2].array, kTopics[3].array}) {
    std::string lines;
    for (const Setting& setting : settings.given) {
      const std::vector<std::string> words = flag_words(setting);
      if (topic_of(setting.key) == array && !words.empty()) {
        lines += fmt::format("  {}\n", quoted_words(words));
      }
    }
    if (!lines.empty()) {
      call.before += fmt::format("{}=(\n{})\n\n", array, lines);
      call.command += fmt::format(" \\\n  \"${{{}[@]}}\"", array);
    }
  }
  return call;
}

// key=value words, lists in brackets.
std::string overrides(const std::vector<Setting>& given, std::string_view but) {
  std::string text;
  for (const Setting& setting : given) {
    if (setting.key == but) {
      continue;
    }
    const bool list = setting.values.size() != 1;
    const std::string value = list ? '[' + join(setting.values, ",") + ']' : setting.values[0];
    text += fmt::format(" \\\n  {}", shell_quoted(fmt::format("{}={}", setting.key, value)));
  }
  return text;
}

Call bridge_call(const Settings& settings) {
  const Setting* recipe = find(settings.given, "recipe");
  std::string command = "scripts/training/run_recipe.py";
  if (recipe != nullptr && recipe->values.size() == 1) {
    command += " --recipe " + shell_quoted(recipe->values[0]);
  }
  return {"", command + overrides(settings.given, "recipe")};
}

// "--section.key value"; switches are "--section.key" and "--section.no-key".
std::string section_flag(const Setting& setting) {
  const std::string_view value =
      setting.values.size() == 1 ? std::string_view(setting.values[0]) : std::string_view();
  if (value == "true") {
    return "--" + setting.key;
  }
  if (value == "false") {
    const std::size_t leaf = setting.key.rfind('.') + 1;
    return fmt::format("--{}no-{}", setting.key.substr(0, leaf), setting.key.substr(leaf));
  }
  return fmt::format("--{} {}", setting.key, quoted_words(setting.values));
}

// torchtitan's main: the recipe file, or overrides of one of its own recipes.
Call torchtitan_call(const Settings& settings) {
  const auto value = [&](std::string_view key, std::string_view otherwise) {
    const Setting* found = find(settings.given, key);
    return shell_quoted(found != nullptr && found->values.size() == 1 ? found->values[0]
                                                                      : std::string(otherwise));
  };
  std::string_view file = config_file_name(Dialect::kTorchtitan);
  file.remove_suffix(std::string_view(".py").size());
  if (find(settings.given, "config") == nullptr) {
    return {"", fmt::format("-m torchtitan.train --module {} --config {}", file,
                            value("recipe", "recipe"))};
  }
  std::string command = fmt::format("-m torchtitan.train --module {} --config {}",
                                    value("module", "llama3"), value("config", ""));
  for (const Setting& setting : settings.given) {
    if (setting.key != "module" && setting.key != "config") {
      command += fmt::format(" \\\n  {}", section_flag(setting));
    }
  }
  return {"", std::move(command)};
}

Call call_of(const Settings& settings) {
  const std::string_view file = config_file_name(settings.dialect);
  switch (settings.dialect) {
    case Dialect::kMegatron:
      return megatron_call(settings);
    case Dialect::kBridge:
      return bridge_call(settings);
    case Dialect::kTorchtitan:
      return torchtitan_call(settings);
    case Dialect::kTorchtitanToml:
      return {"", fmt::format("-m torchtitan.train --job.config_file {}", file)};
    case Dialect::kDeepspeed:
      return {"", fmt::format("train.py --deepspeed_config {}", file)};
    case Dialect::kMaxtext:
      return {"", fmt::format("python3 -m maxtext.trainers.pre_train.train base.yml{}",
                              overrides(settings.given, ""))};
    case Dialect::kAccelerate:
      return {"", "train.py"};
    case Dialect::kNanotron:
      return {"", fmt::format("run_train.py --config-file {}", file)};
  }
  return {};
}

// What stands before the program.
std::string starter(const Settings& settings, Launcher launcher) {
  const std::string nodes = launch_value(settings, "nodes");
  const std::string a_node = launch_value(settings, "devices_per_node");
  const bool slurm = launcher == Launcher::kSlurm;
  const bool one = nodes == "1";
  switch (settings.dialect) {
    case Dialect::kMaxtext:
      return slurm ? "srun " : "";
    case Dialect::kAccelerate: {
      const std::string rank = slurm ? "\\$SLURM_NODEID" : "\"${NODE_RANK:-0}\"";
      const std::string address = slurm ? "$head_node" : "\"${MASTER_ADDR:-localhost}\"";
      return fmt::format(
          "{}accelerate launch --config_file {} \\\n  --num_machines {} --num_processes {} "
          "\\\n  --machine_rank {} --main_process_ip {} --main_process_port 29500 \\\n  ",
          slurm ? "srun bash -c \"" : "", config_file_name(settings.dialect), nodes,
          launch_value(settings, "devices"), rank, address);
    }
    case Dialect::kDeepspeed:
      if (!slurm) {
        return fmt::format("deepspeed --num_nodes {} --num_gpus {}{} ", nodes, a_node,
                           one ? "" : " --hostfile hostfile");
      }
      [[fallthrough]];
    case Dialect::kMegatron:
    case Dialect::kBridge:
    case Dialect::kTorchtitan:
    case Dialect::kTorchtitanToml:
    case Dialect::kNanotron:
      break;
  }
  if (slurm) {
    return fmt::format(
        "srun torchrun --nnodes {} --nproc-per-node {} \\\n  --rdzv-backend c10d --rdzv-id "
        "\"$SLURM_JOB_ID\" --rdzv-endpoint \"$head_node:29500\" \\\n  ",
        nodes, a_node);
  }
  return fmt::format(
      "torchrun --nnodes {} --nproc-per-node {} \\\n  --node-rank \"${{NODE_RANK:-0}}\" "
      "--master-addr \"${{MASTER_ADDR:-localhost}}\" --master-port 29500 \\\n  ",
      nodes, a_node);
}

// One task a node: the launcher starts the processes, but for JAX that takes one process a node
// too.
std::string batch_header(const Settings& settings, const describe::Job& job) {
  std::string name = job.model.name.empty() ? "train" : job.model.name;
  std::ranges::replace_if(
      name, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '#'; },
      '-');
  return fmt::format(
      "#SBATCH --job-name={}\n#SBATCH --nodes={}\n#SBATCH --ntasks-per-node=1\n"
      "#SBATCH --gpus-per-node={}\n#SBATCH --exclusive\n",
      name, launch_value(settings, "nodes"), launch_value(settings, "devices_per_node"));
}

std::string comment_lines(const std::vector<std::string>& comments) {
  std::string text;
  for (const std::string& comment : comments) {
    for (const std::string_view line : split(comment, '\n')) {
      text += line.empty() ? "#\n" : fmt::format("# {}\n", line);
    }
  }
  return text;
}

}  // namespace

std::string_view config_file_name(Dialect dialect) {
  switch (dialect) {
    case Dialect::kTorchtitan:
      return "torchtitan_recipe.py";
    case Dialect::kTorchtitanToml:
      return "train.toml";
    case Dialect::kDeepspeed:
      return "ds_config.json";
    case Dialect::kAccelerate:
      return "accelerate.yaml";
    case Dialect::kNanotron:
      return "nanotron.yaml";
    case Dialect::kMegatron:
    case Dialect::kBridge:
    case Dialect::kMaxtext:
      break;
  }
  return "";
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=+,@%";
  if (!word.empty() && word.find_first_not_of(kSafe) == std::string_view::npos) {
    return std::string(word);
  }
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return text + "'";
}

File launch_script(const Writing& writing, const describe::Job& job, Launcher launcher,
                   const std::vector<std::string>& comments) {
  Settings settings = writing.settings;
  if (settings.launch.empty()) {
    settings.launch = launch_settings(job);
  }
  const bool slurm = launcher == Launcher::kSlurm;
  std::string text = "#!/bin/bash\n";
  if (slurm) {
    text += batch_header(settings, job);
  }
  text += comment_lines(comments) + "set -euo pipefail\n\n";
  for (const Setting& variable : settings.environment) {
    if (variable.values.size() == 1) {
      text += fmt::format("export {}={}\n", variable.key, shell_quoted(variable.values[0]));
    }
  }
  if (slurm && settings.dialect != Dialect::kMaxtext) {
    text += "head_node=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n";
  }
  const Call call = call_of(settings);
  const bool in_quotes = slurm && settings.dialect == Dialect::kAccelerate;
  text += fmt::format("\n{}{}{}{}\n", call.before, starter(settings, launcher), call.command,
                      in_quotes ? "\"" : "");
  return {slurm ? "train.sbatch" : "train.sh", std::move(text), true};
}

}  // namespace sextant::emit
