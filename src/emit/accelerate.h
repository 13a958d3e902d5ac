// Hugging Face Accelerate's YAML (accelerate config, accelerate launch --config_file).
//
// distributed_type chooses the engine: FSDP (version 2 with parallelism_config, version 1 with a
// sharding strategy), MULTI_GPU (DDP), DEEPSPEED, MEGATRON_LM. Batch, sequence and model are the
// training script's own: the file has no words for them. Source: accelerate's
// parallelism_config.py (mesh dp_replicate, dp_shard, cp, sp, tp; weights sharded over dp_shard and
// cp), commands/launch.py and utils/launch.py.
#pragma once

#include "describe/data_store.h"
#include "emit/dialects.h"
#include "emit/known_keys.h"
#include "emit/settings.h"

namespace sextant::emit {

// zero 3 is written as FSDP 2, zero 0 as DDP, zero 1 and 2 as DeepSpeed; a pipeline, sequence
// parallelism or tensor parallelism without FSDP as Megatron-LM.
Writing write_accelerate(const describe::Job& given);
Reading read_accelerate(const Settings& settings, const describe::DataStore& data);
KnownKeys accelerate_keys();

}  // namespace sextant::emit
