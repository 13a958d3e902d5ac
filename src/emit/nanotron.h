// nanotron's YAML: parallelism.*, tokens.*, optimizer.*, model.*.
//
// nanotron 2026 (config/config.py, parallel/context.py): world = dp·cp·tp·pp, experts folded into
// it (expert_parallel_size · expert_tensor_parallel_size · expert_data_parallel_size · pp = world).
// A step's batch is micro_batch_size · batch_accumulation_per_replica · dp. ZeRO is stage 0 or 1.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "describe/model/model.h"
#include "emit/dialects.h"
#include "emit/known_keys.h"
#include "emit/settings.h"

namespace sextant::emit {

Writing write_nanotron(const describe::Job& given);
Reading read_nanotron(const Settings& settings, const describe::DataStore& data);
KnownKeys nanotron_keys();

// model.model_config of a Llama-like decoder, dense or with experts in every layer; empty where the
// model is none of these (nanotron_model.cc).
std::vector<Setting> nanotron_model_settings(const describe::Model& model);
// The model that model.model_config describes; nothing where it says nothing about one.
std::optional<Result<describe::Model>> nanotron_model(const Settings& settings,
                                                      const describe::DataStore& data);

}  // namespace sextant::emit
