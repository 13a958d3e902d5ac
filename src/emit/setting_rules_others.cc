// Rules of DeepSpeed, MaxText, Accelerate and nanotron about their settings.
#include <algorithm>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/layout/rule_nearest.h"
#include "emit/maxtext_parts.h"
#include "emit/setting_rules_view.h"

namespace sextant::emit {
namespace {

using describe::Severity;

// --- MaxText ---

void check_pipeline(const Asked& asked) {
  const SettingsView& say = asked.say;
  const std::int64_t stages = asked.job.layout.pp;
  if (stages == 1) {
    return;
  }
  const std::int64_t microbatches = say.number("num_pipeline_microbatches").value_or(-1);
  const std::int64_t steps =
      std::max<std::int64_t>(say.number("gradient_accumulation_steps").value_or(1), 1);
  const std::int64_t batch = asked.job.global_batch / steps;
  if (microbatches > 0 && (microbatches % stages != 0 || batch % microbatches != 0)) {
    asked.broken(
        "MAXTEXT-MICROBATCHES",
        fmt::format("{} microbatches of a batch of {} on {} stages", microbatches, batch, stages),
        {fmt::format("num_pipeline_microbatches={}", stages)});
  }
  if (say.on("pipeline_delay_activation_forwarding") && microbatches > 0 &&
      microbatches < saturating_product({2, stages})) {
    asked.broken(
        "MAXTEXT-DELAYED",
        fmt::format("{} microbatches on {} stages with delayed forwarding", microbatches, stages),
        {fmt::format("num_pipeline_microbatches={}", saturating_product({2, stages}))});
  }
  const auto each = say.number("num_layers_per_pipeline_stage");
  const auto repeats = say.number("num_pipeline_repeats");
  const std::int64_t part = say.number("pipeline_parallel_layers").value_or(-1);
  const std::int64_t layers = part > 0 ? part : asked.job.model.layer_count();
  if (!each || *each < 1) {
    return;
  }
  const std::int64_t round = saturating_product({*each, stages});
  const bool fills = repeats && *repeats > 0 ? saturating_product({round, *repeats}) == layers
                                             : layers % round == 0;
  if (!fills) {
    asked.broken(
        "MAXTEXT-LAYERS",
        fmt::format("{} layers a stage on {} stages do not make {}", *each, stages, layers),
        describe::nearest_divisors("num_layers_per_pipeline_stage",
                                   std::max<std::int64_t>(layers / stages, 1), *each));
  }
}

// One level of the mesh: what its sizes multiply to, and how many are left open (-1).
struct LevelProduct {
  std::int64_t product = 1;
  std::int64_t open = 0;
};

LevelProduct level_of(const SettingsView& say, std::string_view prefix,
                      std::string_view open_by_default) {
  LevelProduct level;
  for (const std::string_view axis : maxtext::axis_names()) {
    const std::int64_t size = say.number(fmt::format("{}_{}_parallelism", prefix, axis))
                                  .value_or(axis == open_by_default ? -1 : 1);
    if (size == -1) {
      level.open += 1;
    } else if (size > 0) {
      level.product = saturating_product({level.product, size});
    }
  }
  return level;
}

void check_mesh(const Asked& asked) {
  const LevelProduct inside = level_of(asked.say, "ici", "fsdp");
  const LevelProduct across = level_of(asked.say, "dcn", "data");
  const std::int64_t product = saturating_product({inside.product, across.product});
  const std::int64_t devices = asked.job.cluster.devices;
  const bool closed = inside.open == 0 && across.open == 0;
  if (inside.open > 1 || across.open > 1 ||
      (closed ? product != devices : devices % product != 0)) {
    asked.broken("MAXTEXT-MESH",
                 fmt::format("mesh sizes multiply to {} with {} left open, for {} devices", product,
                             inside.open + across.open, devices),
                 {"ici_fsdp_parallelism=-1"});
  }
  for (const std::string_view axis : {"dcn_tensor_parallelism", "dcn_tensor_sequence_parallelism",
                                      "dcn_tensor_transpose_parallelism"}) {
    if (asked.say.number(axis).value_or(1) > 1) {
      asked.broken("MAXTEXT-DCN-TENSOR", fmt::format("{} above 1", axis),
                   {fmt::format("{}=1", axis)}, Severity::kRisk);
    }
  }
}

// --- Accelerate ---

std::int64_t accelerate_size(const SettingsView& say, std::string_view name) {
  const auto size = say.number(fmt::format("parallelism_config.parallelism_config_{}_size", name));
  return std::max<std::int64_t>(size.value_or(1), 1);
}

}  // namespace

void check_deepspeed_settings(const Asked& asked) {
  const SettingsView& say = asked.say;
  const auto batch = say.number("train_batch_size");
  const auto micro = say.number("train_micro_batch_size_per_gpu");
  const auto steps = say.number("gradient_accumulation_steps");
  const std::int64_t dp = asked.job.dp();
  if (batch && micro && steps && dp > 0 && *micro > 0 && *steps > 0 &&
      saturating_product({*micro, *steps, dp}) != *batch) {
    asked.broken("DEEPSPEED-BATCH",
                 fmt::format("{} * {} * dp={} is not {}", *micro, *steps, dp, *batch),
                 {fmt::format("train_batch_size={}", saturating_product({*micro, *steps, dp}))});
  }
  if (say.on("fp16.enabled") && say.on("bf16.enabled")) {
    asked.broken("DEEPSPEED-FP16-BF16", "fp16 and bf16 are both enabled", {"fp16.enabled=false"});
  }
}

void check_maxtext_settings(const Asked& asked) {
  check_pipeline(asked);
  check_mesh(asked);
}

void check_accelerate_settings(const Asked& asked) {
  const SettingsView& say = asked.say;
  const std::int64_t replicas = accelerate_size(say, "dp_replicate");
  const std::int64_t shards = accelerate_size(say, "dp_shard");
  const std::int64_t tp = accelerate_size(say, "tp");
  const std::int64_t cp = accelerate_size(say, "cp");
  const std::int64_t sp = accelerate_size(say, "sp");
  if (cp > 1 && sp > 1) {
    asked.broken("ACCELERATE-CP-SP", fmt::format("cp_size {} and sp_size {}", cp, sp),
                 {"parallelism_config_sp_size=1", "parallelism_config_cp_size=1"});
  }
  if (replicas > 1 && shards == 1 && (tp > 1 || cp > 1)) {
    asked.broken("ACCELERATE-DDP-TP",
                 fmt::format("dp_replicate_size {} and dp_shard_size 1 with tp_size {} and cp_size "
                             "{}",
                             replicas, tp, cp),
                 {fmt::format("parallelism_config_dp_shard_size={}", replicas)});
  }
  const std::int64_t product = saturating_product({replicas, shards, tp, cp, sp});
  const auto processes = say.number("num_processes");
  if (product == 1) {
    return;
  }
  if (processes && product != *processes) {
    asked.broken("ACCELERATE-WORLD",
                 fmt::format("the sizes multiply to {}, not to {} processes", product, *processes),
                 {fmt::format("num_processes={}", product)});
  }
  if (to_lower(say.word("distributed_type").value_or("")) == "fsdp" &&
      say.number("fsdp_config.fsdp_version").value_or(1) != 2) {
    asked.broken("ACCELERATE-FSDP2", "a parallelism_config with fsdp_version 1",
                 {"fsdp_config.fsdp_version=2"});
  }
}

void check_nanotron_settings(const Asked& asked) {
  const auto zero = asked.say.number("optimizer.zero_stage");
  if (zero && *zero > 1) {
    asked.broken("NANOTRON-ZERO", fmt::format("optimizer.zero_stage {}", *zero),
                 {"optimizer.zero_stage=1"});
  }
  const auto engine = asked.say.word("parallelism.pp_engine");
  if (engine && to_lower(*engine) != "1f1b" && to_lower(*engine) != "afab") {
    asked.broken("NANOTRON-SCHEDULE", fmt::format("pp_engine {}", printable(*engine)),
                 {"parallelism.pp_engine=1f1b", "parallelism.pp_engine=afab"});
  }
}

}  // namespace sextant::emit
