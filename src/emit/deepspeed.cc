// The names of settings, their defaults and what AutoTP and AutoEP take are recalled from
// DeepSpeed's configuration reference, not read from a source.
#include "emit/deepspeed.h"

#include <array>
#include <utility>

#include "emit/canonical.h"
#include "emit/deepspeed_parts.h"

namespace sextant::emit {
namespace {

constexpr std::int64_t kMostCheckpoints = 1'000'000'000;
constexpr std::string_view kCheckpoints = "activation_checkpointing.number_checkpoints";
constexpr std::string_view kPartition = "activation_checkpointing.partition_activations";
constexpr std::string_view kHostCheckpoints = "activation_checkpointing.cpu_checkpointing";
constexpr std::string_view kDeepCompile = "compile.deepcompile";

constexpr std::array kDeepspeedReasons{
    Reason{"sp", "AutoTP does not shard the sequence"},
    Reason{"cp_method", "its sequence parallelism exchanges heads (Ulysses)"},
    Reason{"pp", "the pipeline engine is set up by the training script"},
    Reason{"dp", "without a pipeline its ranks are data parallel"},
    Reason{"etp", "expert tensor parallelism is always 1"},
    Reason{"zero_group", "only ZeRO 3 shards in groups (MiCS)"},
    Reason{"reshard", "ZeRO 3 always frees gathered parameters"},
    Reason{"recompute",
           "the training script decides what is recomputed; the file says all or none"},
    Reason{"activation_offload", "only recomputed layers' inputs can wait in host memory"},
    Reason{"precision", "it knows fp32, fp16 and bf16"},
    Reason{"parameters", "parameters have the precision's format"},
    Reason{"optimizer", "states are fp32, or bf16 beside bf16 parameters"},
    Reason{"overlap", "overlap_comm hides reductions, and gathers of ZeRO 3"},
    Reason{"order", "ranks are tp-cp-dp, innermost first"},
};

void write_deepspeed_kernels(const describe::Job& job, const describe::Layout& at,
                             SettingWriter& out) {
  if (at.recompute.granularity == describe::Recompute::kFull) {
    out.whole(kCheckpoints, job.model.layer_count());
    if (at.activation_offload) {
      out.flag(kPartition, at.tp > 1);
      out.flag(kHostCheckpoints, true);
    }
  }
  if (at.launch == describe::Launch::kCompiled) {
    out.flag(kDeepCompile, true);
  }
}

// The section configures DeepSpeed's own checkpointing and is often there with everything off; one
// that asks for something is taken as used for every layer.
void read_deepspeed_kernels(SettingReader& reader, Reading& reading) {
  describe::Layout& at = reading.layout;
  const bool host = reader.flag(kHostCheckpoints).value_or(false);
  const auto checkpoints = reader.whole(kCheckpoints, 0, kMostCheckpoints);
  if (host || reader.flag(kPartition).value_or(false) || checkpoints.value_or(0) > 0) {
    at.recompute.granularity = describe::Recompute::kFull;
    at.activation_offload = host;
    const std::string_view key = checkpoints ? kCheckpoints : host ? kHostCheckpoints : kPartition;
    reader.fact("recompute", "full", key);
  }
  if (reader.flag(kDeepCompile).value_or(false)) {
    at.launch = describe::Launch::kCompiled;
    reader.fact("compile", "compile", kDeepCompile);
  }
}

void read_deepspeed_parts(SettingReader& reader, Reading& reading) {
  deepspeed::read_axes(reader, reading);
  deepspeed::read_sharding(reader, reading);
  deepspeed::read_batch(reader, reading);
  deepspeed::read_formats(reader, reading);
  read_deepspeed_kernels(reader, reading);
}

// Top-level names; the inside of a known section is taken as known.
constexpr auto kKnown = std::to_array<std::string_view>({"activation_checkpointing",
                                                         "aio",
                                                         "amp",
                                                         "autotuning",
                                                         "bf16",
                                                         "bfloat16",
                                                         "checkpoint",
                                                         "comms_logger",
                                                         "communication_data_type",
                                                         "compile",
                                                         "compression_training",
                                                         "csv_monitor",
                                                         "curriculum_learning",
                                                         "data_efficiency",
                                                         "data_types",
                                                         "dataloader_drop_last",
                                                         "disable_allgather",
                                                         "dump_state",
                                                         "eigenvalue",
                                                         "elasticity",
                                                         "expert_parallel",
                                                         "flops_profiler",
                                                         "fp16",
                                                         "fp32_allreduce",
                                                         "gradient_accumulation_steps",
                                                         "gradient_clipping",
                                                         "gradient_predivide_factor",
                                                         "hybrid_engine",
                                                         "memory_breakdown",
                                                         "monitor_config",
                                                         "nebula",
                                                         "optimizer",
                                                         "pipeline",
                                                         "prescale_gradients",
                                                         "progressive_layer_drop",
                                                         "scheduler",
                                                         "seq_parallel_communication_data_type",
                                                         "sequence_parallel_size",
                                                         "sparse_attention",
                                                         "sparse_gradients",
                                                         "steps_per_print",
                                                         "tensor_parallel",
                                                         "tensorboard",
                                                         "timers",
                                                         "train_batch_size",
                                                         "train_micro_batch_size_per_gpu",
                                                         "wandb",
                                                         "wall_clock_breakdown",
                                                         "zero_optimization",
                                                         "graph_harvesting",
                                                         "load_universal_checkpoint",
                                                         "torch_autocast",
                                                         "use_data_before_expert_parallelism",
                                                         "use_node_local_storage",
                                                         "weight_quantization",
                                                         "zero_allow_untested_optimizer",
                                                         "zero_force_ds_cpu_optimizer"});

}  // namespace

KnownKeys deepspeed_keys() {
  return {{}, {kKnown.begin(), kKnown.end()}};
}

Writing write_deepspeed(const describe::Job& job) {
  Writing writing;
  writing.settings.dialect = Dialect::kDeepspeed;
  writing.settings.launch = launch_settings(job);
  const describe::Layout wanted = canonical_layout(job);
  SettingWriter out;
  deepspeed::write_batch(job, wanted, out);
  deepspeed::write_sharding(wanted, out);
  deepspeed::write_formats(wanted, out);
  write_deepspeed_kernels(job, wanted, out);
  writing.settings.given = std::move(out).take();
  // What a reader of these settings sees is what the framework will run.
  Reading reading;
  SettingReader reader(writing.settings, reading);
  read_deepspeed_parts(reader, reading);
  writing.left_out = left_out_of(wanted, reading.layout, kDeepspeedReasons);
  return writing;
}

Reading read_deepspeed(const Settings& settings, const describe::DataStore& /*data*/) {
  Reading reading;
  reading.dialect = Dialect::kDeepspeed;
  reading.unresolved = settings.unresolved;
  SettingReader reader(settings, reading);
  read_deepspeed_parts(reader, reading);
  const KnownKeys known = deepspeed_keys();
  for (const Setting& setting : settings.given) {
    if (!is_known(setting.key, known)) {
      reading.unknown.push_back({setting.key, setting.place});
    }
  }
  return reading;
}

}  // namespace sextant::emit
