// Flags of the user's own program under DeepSpeed's or Accelerate's launcher, in the words of
// Hugging Face's TrainingArguments: what the configuration file leaves to the program.
#pragma once

#include <string_view>

#include "describe/data_store.h"
#include "emit/dialects.h"

namespace sextant::emit {

// What such a flag's key begins with: "program.per_device_train_batch_size".
inline constexpr std::string_view kProgramFlag = "program.";

// Model, sequence length, microbatch, batch and checkpointing, each where the reading has none. The
// program's other flags are its own business.
// DeepSpeed's settings that say "auto", as Hugging Face's trainer fills them from its own flags, or
// from its defaults where the flag is not given: batch, accumulation, bf16 and fp16. One whose flag
// is given but not known stays "auto".
Settings filled_by_trainer(const Settings& settings);

void read_trainer_flags(const Settings& settings, const describe::DataStore& data,
                        Reading& reading);

}  // namespace sextant::emit
