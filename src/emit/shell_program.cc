#include "emit/shell_program.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"

namespace sextant::emit {
namespace {

// Commands that only mention programs.
bool is_harmless(std::string_view command) {
  return is_one_of(command,
                   {"echo",  "printf", "cat", "cp",   "mv", "rm",  "ls",     "grep",   "sed",
                    "awk",   "git",    "pip", "pip3", "cd", "tee", "chmod",  "mkdir",  "kill",
                    "pkill", "touch",  "ln",  "test", "[",  "set", "ulimit", "module", "conda"});
}

bool is_launcher_module(std::string_view module) {
  return is_one_of(module, {"torch.distributed.run", "torch.distributed.launch",
                            "accelerate.commands.launch", "deepspeed.launcher.runner"});
}

struct Program {
  std::size_t at = 0;
  bool module = false;
};

// The first word that is a Python file, the module behind -m, or torchtitan's and Bridge's own
// scripts. A launcher's module (-m torch.distributed.run) is not the program.
std::optional<Program> program_of(std::span<const ScriptWord> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view text = words[i].at.text;
    const std::string_view base = base_name(text);
    if (text.starts_with('-')) {
      const bool names_module = is_one_of(text, {"-m", "--module"}) && i + 1 < words.size();
      const std::string_view module = names_module ? words[i + 1].at.text : std::string_view();
      if (module.find('.') != std::string_view::npos && !module.ends_with(".py") &&
          module.find('/') == std::string_view::npos && !is_launcher_module(module)) {
        return Program{i + 1, true};
      }
      continue;
    }
    const bool script = base == "run_train.sh" || (base == "train.sh" && i + 1 < words.size() &&
                                                   words[i + 1].at.text == "--recipe");
    if (script || base.ends_with(".py")) {
      return Program{i, false};
    }
  }
  return std::nullopt;
}

Starter starter_of(std::span<const ScriptWord> words) {
  Starter starter = Starter::kPlain;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view base = base_name(words[i].at.text);
    if (is_one_of(base, {"torchrun", "torch.distributed.run", "torch.distributed.launch"})) {
      starter = Starter::kTorchrun;
    } else if (is_one_of(base, {"deepspeed", "deepspeed.launcher.runner"})) {
      starter = Starter::kDeepspeed;
    } else if ((base == "accelerate" && i + 1 < words.size() && words[i + 1].at.text == "launch") ||
               base == "accelerate.commands.launch") {
      starter = Starter::kAccelerate;
    }
  }
  return starter;
}

bool has_option(std::span<const ScriptWord> words, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(words, [&](const ScriptWord& word) {
    return is_one_of(std::string_view(word.at.text).substr(0, word.at.text.find('=')), names);
  });
}

// "model.tensor_model_parallel_size=2", as Hydra takes it.
bool is_bridge_override(const ScriptWord& word) {
  std::string_view text = word.at.text;
  text.remove_prefix(std::min(text.find_first_not_of("+~"), text.size()));
  if (text.find('=') == std::string_view::npos) {
    return false;
  }
  return is_one_of(text.substr(0, text.find('.')), {"model", "train", "ddp", "optimizer", "dataset",
                                                    "comm_overlap", "mixed_precision"});
}

struct Judgement {
  Dialect dialect = Dialect::kMegatron;
  int score = 0;  // how sure: 4 a known program, 3 known arguments, 2 a
                  // launcher, 1 just Python
  bool known = true;
};

// Flags of Megatron-LM's own parser; a program of another name that takes two of them is a fork.
bool has_megatron_flags(std::span<const ScriptWord> args) {
  static constexpr std::array<std::string_view, 9> kOwn{
      "--num-layers",    "--hidden-size",   "--num-attention-heads",
      "--train-iters",   "--train-samples", "--max-position-embeddings",
      "--eod-mask-loss", "--split",         "--seq-length"};
  return std::ranges::count_if(
             kOwn, [&](std::string_view flag) { return has_option(args, {flag}); }) >= 2;
}

std::optional<Dialect> dialect_by_name(std::string_view program, std::span<const ScriptWord> args) {
  const std::string lower = to_lower(program);
  const std::string_view base = base_name(lower);
  if (base.starts_with("pretrain_") && base.ends_with(".py")) {
    return Dialect::kMegatron;
  }
  const bool performance = base == "run_script.py" || base.ends_with("setup_experiment.py");
  if (performance && has_option(args, {"--model_recipe_name", "-mr"})) {
    return Dialect::kBridge;
  }
  if (base == "run_recipe.py" || base == "train.sh") {
    return Dialect::kBridge;
  }
  if (base == "torchtitan.train" || lower.ends_with("torchtitan/train.py") ||
      base == "run_train.sh") {
    const bool toml = has_option(args, {"--job.config_file", "--job.config-file"});
    return toml ? Dialect::kTorchtitanToml : Dialect::kTorchtitan;
  }
  if (lower.starts_with("maxtext.") ||
      (lower.find("maxtext/") != std::string::npos && base.ends_with("train.py"))) {
    return Dialect::kMaxtext;
  }
  if (base == "run_train.py" && has_option(args, {"--config-file", "--config_file"})) {
    return Dialect::kNanotron;
  }
  return std::nullopt;
}

Judgement judged(std::string_view program, Starter starter, std::span<const ScriptWord> args) {
  if (const auto named = dialect_by_name(program, args)) {
    // DeepSpeed's launcher starts Megatron's programs with --deepspeed only; else it is neither.
    const bool neither = *named == Dialect::kMegatron && starter == Starter::kDeepspeed &&
                         !has_option(args, {"--deepspeed", "--deepspeed_config", "--zero-stage"});
    return {*named, 4, !neither};
  }
  const bool trainer =
      has_option(args, {"--model_name_or_path", "--per_device_train_batch_size",
                        "--gradient-accumulation-steps", "--gradient_accumulation_steps"});
  if (!trainer && (has_option(args, {"--tensor-model-parallel-size",
                                     "--pipeline-model-parallel-size", "--micro-batch-size"}) ||
                   has_megatron_flags(args))) {
    return {Dialect::kMegatron, 3};
  }
  if (std::ranges::any_of(args, is_bridge_override)) {
    return {Dialect::kBridge, 3};
  }
  if (starter == Starter::kAccelerate) {
    return {Dialect::kAccelerate, 4};
  }
  if (starter == Starter::kDeepspeed || has_option(args, {"--deepspeed", "--deepspeed_config"})) {
    return {Dialect::kDeepspeed, starter == Starter::kDeepspeed ? 4 : 3};
  }
  if (has_option(args, {"--job.config_file", "--job.config-file"})) {
    return {Dialect::kTorchtitanToml, 3};
  }
  return {Dialect::kMegatron, trainer ? 3 : starter == Starter::kPlain ? 1 : 2, false};
}

std::string command_text(const ScriptCommand& command) {
  std::string text;
  for (const ScriptWord& word : command.words) {
    text += word.at.text + '\n';
  }
  return text;
}

}  // namespace

std::vector<TrainingCommand> training_commands(const ShellScript& script) {
  std::vector<TrainingCommand> best;
  std::set<std::string> texts;
  int best_score = 0;
  for (std::size_t i = 0; i < script.commands.size(); ++i) {
    const ScriptCommand& command = script.commands[i];
    const std::vector<ScriptWord>& words = command.words;
    const auto program = program_of(words);
    if (!program || is_harmless(base_name(words[0].at.text))) {
      continue;
    }
    const std::span<const ScriptWord> all(words);
    const Starter starter = starter_of(all.first(program->at));
    const Judgement found =
        judged(words[program->at].at.text, starter, all.subspan(program->at + 1));
    const int likely = command.uncalled ? 0 : command.may_run ? 1 : 2;
    const int score = 3 * found.score + likely;
    if (score > best_score) {
      best_score = score;
      best.clear();
      texts.clear();
    }
    if (score == best_score && texts.insert(command_text(command)).second) {
      best.push_back({i, program->at, starter, found.dialect, found.known});
    }
  }
  return best;
}

std::span<const ScriptWord> launcher_words(const ShellScript& script,
                                           const TrainingCommand& found) {
  return std::span(script.commands[found.command].words).first(found.program);
}

std::span<const ScriptWord> program_words(const ShellScript& script, const TrainingCommand& found) {
  return std::span(script.commands[found.command].words).subspan(found.program + 1);
}

bool is_option(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') {
    return false;
  }
  return word[1] == '-' ? word.size() > 2
                        : (word[1] >= 'a' && word[1] <= 'z') || (word[1] >= 'A' && word[1] <= 'Z');
}

}  // namespace sextant::emit
