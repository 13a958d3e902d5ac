// Programs whose settings say the same as another dialect's in words of their own: their keys are
// put into that dialect's, and `Settings::program` names them. What their own base recipes leave
// silent is not known.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "describe/data_store.h"
#include "describe/model/model.h"
#include "emit/dialects.h"
#include "emit/settings.h"

namespace sextant::emit {

inline constexpr std::string_view kFoundry = "llm-foundry";
inline constexpr std::string_view kNeox = "gpt-neox";
inline constexpr std::string_view kNemo = "nemo";

// Megatron-Bridge's performance scripts (run_script.py, setup_experiment.py) as its overrides, and
// the devices they are told.
// Source: NVIDIA-NeMo/Megatron-Bridge 00110641, scripts/performance/argument_parser.py (flags and
// their short forms, formats, "None" for no chunks).
Settings bridge_of_performance(const Settings& settings);

// A recipe of NeMo in Python: local numbers, what they are handed to (tp_size=…), and attributes
// that are set (….tensor_model_parallel_size = 2). An Error where nothing of a layout is in it.
// Source: NVIDIA/NeMo 02a0e6a5, scripts/performance/helpers.py (set_primary_perf_configs, names of
// MegatronStrategy).
Result<Settings> parse_nemo_recipe(std::string_view text, std::string_view name);

// GPT-NeoX's YAML as Megatron-DeepSpeed's flags.
// Source: EleutherAI/gpt-neox 007d6d0c, megatron/neox_arguments/neox_args.py (names, defaults) and
// configs/README.md.
Settings megatron_of_neox(const Settings& settings);

// llm-foundry's YAML: FSDP, batch, shape and formats; ${…} stand for other keys.
// Source: mosaicml/llm-foundry, scripts/train/yamls/pretrain (keys), Composer's FSDP words.
Reading read_foundry(const Settings& settings, const describe::DataStore& data);

// The catalogue's model that a job calls "meta-llama/Llama-3.1-8B" or "models/llama-3.1-8b". A job
// is foreign text: what it names is never read, neither a file nor standard input.
std::optional<describe::Model> hub_model(std::string_view name, const describe::DataStore& data);

// A configuration of Hugging Face's trainer (TRL, alignment-handbook) as the program's flags.
bool is_trainer_config(const Settings& settings);
Settings flags_of_trainer_config(Settings settings);

}  // namespace sextant::emit
