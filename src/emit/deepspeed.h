// DeepSpeed's JSON: "zero_optimization.stage", "train_micro_batch_size_per_gpu".
//
// The file knows neither model nor sequence length: those stay absent. Pipelines, sequence
// parallelism of the tensor-parallel group, kernels and most of recompute are the training script's
// own and cannot be said either.
#pragma once

#include "describe/data_store.h"
#include "describe/layout/job.h"
#include "emit/dialects.h"
#include "emit/known_keys.h"
#include "emit/settings.h"

namespace sextant::emit {

Writing write_deepspeed(const describe::Job& job);
Reading read_deepspeed(const Settings& settings, const describe::DataStore& data);
KnownKeys deepspeed_keys();

}  // namespace sextant::emit
