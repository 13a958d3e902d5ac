// MaxText's YAML and its key=value overrides. MaxText e591f30 (2026-08):
// src/maxtext/configs/base.yml and types.py.
//
// Axes have a size inside a slice (ici_…_parallelism) and one between slices (dcn_…); on GPUs a
// slice is a scale-up domain. Weights are sharded over fsdp, context and expert together, replicas
// are the data axis; batch is split over data, fsdp and expert. Which axes cross slices is the
// layout's order of ranks: the outermost take the slices first; a mesh that no order says is
// unresolved. A step's batch is
// per_device_batch_size · devices · gradient_accumulation_steps; a pipeline splits each
// accumulation step into num_pipeline_microbatches and runs all forwards before all backwards,
// repeats breadth first.
//
// Remat policies, by what they compute again: full (everything), minimal_with_context (norms and
// activations), minimal (those and the attention core), save_dot_with_context_except_mlp (norms and
// feed-forward), save_dot_except_mlp (those and the attention core). minimal_offloaded,
// qkv_proj_offloaded and custom with decoder_layer_input=offload keep in host memory what is kept.
// save_dot_except_mlpwi and save_qkv_proj are read as save_dot_except_mlp, save_out_proj as full.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "describe/data_store.h"
#include "emit/dialects.h"
#include "emit/flags.h"
#include "emit/settings.h"

namespace sextant::emit {

Writing write_maxtext(const describe::Job& given);
Reading read_maxtext(const Settings& settings, const describe::DataStore& data);

// The words of a command line that set something: "remat_policy=full". Others (the module, the
// configuration file, options) are dropped. They stand over the file's settings when put behind
// them.
std::vector<Setting> maxtext_overrides(std::span<const WordAt> words);

}  // namespace sextant::emit
