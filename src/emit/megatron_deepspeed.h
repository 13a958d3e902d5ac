// Megatron-DeepSpeed: Megatron-LM's flags of 2021 with DeepSpeed's own beside them. Its settings
// are read as Megatron's after its words are put into Megatron's.
//
// Source: deepspeedai/Megatron-DeepSpeed 207b2d5a, megatron/arguments.py (flags, --zero-stage,
// --checkpoint-activations, default of --moe-expert-parallel-size).
#pragma once

#include "emit/dialects.h"
#include "emit/settings.h"

namespace sextant::emit {

// Megatron's flags with `--deepspeed`, `--zero-stage` or another flag that only the fork has.
bool is_megatron_deepspeed(const Settings& settings);

// The fork's words as Megatron's: --checkpoint-activations is full recomputation,
// --num-key-value-heads are query groups, one expert is none.
Settings in_megatron_words(const Settings& settings);

// What Megatron has no word for: the ZeRO stage (without the flag DeepSpeed's file says it: not
// known), Ulysses as context parallelism, stages cut by another count than layers (not known).
void read_deepspeed_flags(const Settings& settings, Reading& reading);

}  // namespace sextant::emit
