// Which keys torchtitan has. Three sections are listed in full, as everything in them may decide
// speed; of the others any key is taken as known.
// Source: torchtitan b5bcd76c6, config/configs.py; 0.2.2, config/job_config.py.
#include <algorithm>
#include <array>

#include "emit/torchtitan_parts.h"

namespace sextant::emit::torchtitan {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>({
    "compile.backend",
    "compile.components",
    "compile.enable",
    "compile.enable_async_tensor_parallel",
    "parallelism.context_parallel_degree",
    "parallelism.context_parallel_load_balancer",
    "parallelism.context_parallel_rotate_method",
    "parallelism.data_parallel_replicate_degree",
    "parallelism.data_parallel_shard_degree",
    "parallelism.disable_loss_parallel",
    "parallelism.enable_async_tensor_parallel",
    "parallelism.enable_compiled_autograd",
    "parallelism.enable_fsdp_symm_mem",
    "parallelism.enable_sequence_parallel",
    "parallelism.expert_parallel_comm_backend",
    "parallelism.expert_parallel_degree",
    "parallelism.expert_tensor_parallel_degree",
    "parallelism.fsdp_reshard_after_forward",
    "parallelism.full_dtensor",
    "parallelism.module_fqns_per_model_part",
    "parallelism.num_pp_microbatches",
    "parallelism.pipeline_parallel_degree",
    "parallelism.pipeline_parallel_expert_parallel_overlap",
    "parallelism.pipeline_parallel_first_stage_less_layers",
    "parallelism.pipeline_parallel_last_stage_less_layers",
    "parallelism.pipeline_parallel_layers_per_stage",
    "parallelism.pipeline_parallel_microbatch_size",
    "parallelism.pipeline_parallel_schedule",
    "parallelism.pipeline_parallel_schedule_csv",
    "parallelism.pipeline_parallel_split_points",
    "parallelism.spmd_backend",
    "parallelism.tensor_parallel_degree",
    "training.compile",
    "training.dataset",
    "training.dataset_path",
    "training.deterministic",
    "training.disable_cuda_graphs",
    "training.dtype",
    "training.enable_cpu_offload",
    "training.gc_debug",
    "training.gc_freq",
    "training.global_batch_size",
    "training.local_batch_size",
    "training.max_context_length",
    "training.max_norm",
    "training.mixed_precision_param",
    "training.mixed_precision_reduce",
    "training.num_tokens_per_microbatch_per_dp_rank",
    "training.num_tokens_per_train_step",
    "training.seed",
    "training.seq_len",
    "training.steps",
});

// Sections, and settings that stand alone.
constexpr auto kSections = std::to_array<std::string_view>({
    "activation_checkpoint",
    "activation_offload",
    "checkpoint",
    "checkpointer",
    "comm",
    "config",
    "dataloader",
    "debug",
    "dump_folder",
    "experimental",
    "fault_tolerance",
    "float8",
    "hf_assets_path",
    "job",
    "loss",
    "lr_scheduler",
    "memory_estimation",
    "metrics",
    "model",
    "model_converters",
    "model_spec",
    "module",
    "mx",
    "optimizer",
    "override",
    "profiler",
    "profiling",
    "quantize",
    "recipe",
    "sdc_replayer",
    "tokenizer",
    "validation",
    "validator",
});

}  // namespace

bool is_known(std::string_view key, Edition edition) {
  const std::string_view section = key.substr(0, key.find('.'));
  const auto has = [](const auto& list, std::string_view wanted) {
    return std::find(list.begin(), list.end(), wanted) != list.end();
  };
  if (section == "parallelism" || section == "training" || section == "compile") {
    const bool main = edition == Edition::kMain;
    const bool other_edition =
        main
            ? key == "training.seq_len" || key == "training.local_batch_size" ||
                  key == "training.global_batch_size" ||
                  key == "parallelism.pipeline_parallel_microbatch_size" ||
                  key == "parallelism.expert_tensor_parallel_degree"
            : key.starts_with("training.num_tokens") || key == "training.max_context_length" ||
                  key == "parallelism.num_pp_microbatches" || key == "training.disable_cuda_graphs";
    return !other_edition && has(kKeys, key);
  }
  return has(kSections, section);
}

KnownKeys known_keys(Edition edition) {
  KnownKeys known{{}, {kSections.begin(), kSections.end()}};
  for (const std::string_view key : kKeys) {
    if (is_known(key, edition)) {
      known.keys.emplace_back(key);
    }
  }
  return known;
}

}  // namespace sextant::emit::torchtitan
