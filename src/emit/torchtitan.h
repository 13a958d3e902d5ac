// torchtitan's words. Two editions: `main` (b5bcd76c6), configured by Python functions and
// --section.key overrides, and the TOML files of 0.2.2 and before.
//
// What no edition can say: ZeRO 1 and 2 (it is FSDP2, or plain replicas without context
// parallelism), a second tensor-parallel size inside experts (0.2.2: 1 or tp), rank orders, other
// optimizers than AdamW, attention kernels, offloaded activations, DualPipe. Where tp exceeds the
// kv heads torchtitan refuses the job: that is a rule, not a word.
#pragma once

#include <span>
#include <vector>

#include "describe/data_store.h"
#include "describe/layout/job.h"
#include "emit/dialects.h"
#include "emit/flags.h"
#include "emit/settings.h"

namespace sextant::emit {

// Keys are dotted paths: "parallelism.tensor_parallel_degree", "training.max_context_length". The
// model is "model.name" and "model.flavor" (data/frameworks/torchtitan_models.toml); one that
// torchtitan does not have is left out as "model".
Writing write_torchtitan(const describe::Job& job);
Reading read_torchtitan(const Settings& settings, const describe::DataStore& data);

Writing write_torchtitan_toml(const describe::Job& job);
Reading read_torchtitan_toml(const Settings& settings, const describe::DataStore& data);

// "--parallelism.tensor_parallel_degree 8", "--compile.enable", "--compile.no-enable",
// "--module llama3 --config llama3_8b": the settings, in order. Words before the first "--" are
// dropped.
std::vector<Setting> torchtitan_overrides(std::span<const WordAt> words);

}  // namespace sextant::emit
