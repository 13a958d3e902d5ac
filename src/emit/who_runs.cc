#include "emit/who_runs.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sextant::emit {
namespace {

// A program, and the word behind it where the program alone says too little.
struct Started {
  std::string_view program;
  std::string_view then;
  std::string_view framework;
};
constexpr std::array kStarted{Started{"swift", "sft", "ms-swift"},
                              Started{"swift", "pt", "ms-swift"},
                              Started{"swift", "rlhf", "ms-swift"},
                              Started{"megatron", "sft", "ms-swift"},
                              Started{"megatron", "pt", "ms-swift"},
                              Started{"megatron", "rlhf", "ms-swift"},
                              Started{"llamafactory-cli", "", "LLaMA-Factory"},
                              Started{"axolotl", "", "Axolotl"},
                              Started{"axolotl.cli.train", "", "Axolotl"},
                              Started{"tune", "run", "torchtune"},
                              Started{"xpk", "workload", "xpk"},
                              Started{"xpk.py", "workload", "xpk"},
                              Started{"flagscale", "", "FlagScale"},
                              Started{"primus-cli", "", "Primus"},
                              Started{"composer", "", "llm-foundry"},
                              Started{"deepy.py", "", "GPT-NeoX"},
                              Started{"nemo", "llm", "NeMo"},
                              Started{"megatron_gpt_pretraining.py", "", "NeMo"},
                              Started{"kubectl", "apply", "Kubernetes"}};

// Keys that stand together in nobody else's files; the second may be "".
struct Keys {
  std::string_view first;
  std::string_view second;
  std::string_view framework;
};
constexpr std::array kOtherKeys{Keys{"pipe_parallel_size", "", "GPT-NeoX"},
                                Keys{"pipe-parallel-size", "", "GPT-NeoX"},
                                Keys{"model-parallel-size", "", "GPT-NeoX"},
                                Keys{"finetuning_type", "", "LLaMA-Factory"},
                                Keys{"base_model", "", "Axolotl"},
                                Keys{"train_loader.dataset", "max_duration", "llm-foundry"},
                                Keys{"device_train_microbatch_size", "", "llm-foundry"},
                                Keys{"device_train_grad_accum", "", "llm-foundry"},
                                Keys{"experiment.task", "", "FlagScale"},
                                Keys{"modules.pre_trainer", "", "Primus"},
                                Keys{"apiVersion", "kind", "Kubernetes"},
                                Keys{"model._component_", "tokenizer._component_", "torchtune"}};

bool holds(const Settings& settings, std::string_view key) {
  return std::ranges::any_of(settings.given, [&](const Setting& one) {
    return one.key.starts_with(key) && (one.key.size() == key.size() || one.key[key.size()] == '.');
  });
}

struct Import {
  std::string_view text;
  std::string_view framework;
};
constexpr std::array kImports{Import{"nemo_run", "NeMo"}, Import{"from nemo.", "NeMo"},
                              Import{"import nemo", "NeMo"}, Import{"olmo_core", "OLMo-core"},
                              Import{"torchtune", "torchtune"}};

}  // namespace

std::optional<std::string_view> other_in_command(std::span<const ScriptWord> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view base = base_name(words[i].at.text);
    const std::string_view next =
        i + 1 < words.size() ? std::string_view(words[i + 1].at.text) : std::string_view();
    for (const Started& row : kStarted) {
      if (base == row.program && (row.then.empty() ? !next.empty() : next == row.then)) {
        return row.framework;
      }
    }
    if (base.find('=') == std::string_view::npos && base.ends_with(".py")) {
      return std::nullopt;  // what follows are another program's arguments
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> other_in_tree(const Settings& settings) {
  for (const Keys& row : kOtherKeys) {
    if (holds(settings, row.first) && (row.second.empty() || holds(settings, row.second))) {
      return row.framework;
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> other_in_python(std::string_view text) {
  for (const Import& row : kImports) {
    if (text.find(row.text) != std::string_view::npos) {
      return row.framework;
    }
  }
  return std::nullopt;
}

tl::unexpected<Error> not_read(std::string_view framework, std::string_view where) {
  return invalid(fmt::format("this is a job of {}, whose settings are not read", framework),
                 std::string(where),
                 "jobs of Megatron-LM, Megatron-Bridge, torchtitan, DeepSpeed, MaxText, "
                 "Accelerate "
                 "and nanotron; for others state the job itself (estimate MODEL)");
}

}  // namespace sextant::emit
