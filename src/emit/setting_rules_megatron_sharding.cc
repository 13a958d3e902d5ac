// Megatron's rules about optimizers, FSDP, weight shards and the environment.
#include <algorithm>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/layout/rule_nearest.h"
#include "emit/setting_rules_view.h"

namespace sextant::emit {
namespace {

using describe::Severity;

constexpr std::string_view kConnections = "CUDA_DEVICE_MAX_CONNECTIONS";

bool has_distributed_optimizer(const Asked& asked) {
  return asked.say.on("use_distributed_optimizer",
                      asked.job.layout.zero == describe::Zero::kOptimizer);
}

bool has_fsdp(const Asked& asked) {
  return asked.say.on("use_megatron_fsdp") || asked.say.on("use_torch_fsdp2");
}

// Megatron-LM's default; what a recipe saves is not known.
std::string checkpoint_format(const SettingsView& say) {
  return say.word("ckpt_format").value_or(say.has_recipe() ? "" : "torch_dist");
}

void check_optimizer(const Asked& asked) {
  const SettingsView& say = asked.say;
  const std::int64_t ranks = saturating_product({asked.job.dp(), asked.job.layout.cp});
  const std::int64_t instances = say.number("num_distributed_optimizer_instances").value_or(1);
  if (instances < 1 || (ranks > 0 && ranks % instances != 0)) {
    asked.broken(
        "MEGATRON-OPTIMIZER-INSTANCES",
        fmt::format("{} optimizer instances over dp * cp = {}", instances, ranks),
        describe::nearest_divisors("num_distributed_optimizer_instances", ranks, instances));
  }
  if (say.on("optimizer_cpu_offload") && !say.may_be_on("use_precision_aware_optimizer")) {
    asked.broken("MEGATRON-OPTIMIZER-OFFLOAD",
                 "optimizer_cpu_offload without use_precision_aware_optimizer",
                 {"use_precision_aware_optimizer"});
  }
  if (say.on("fp8_param_gather") && !has_distributed_optimizer(asked) && !has_fsdp(asked)) {
    asked.broken("MEGATRON-FP8-GATHER", "fp8_param_gather without sharded states",
                 {"use_distributed_optimizer", "without fp8_param_gather"});
  }
}

// What overlap_param_gather_with_optimizer_step lacks, or nothing.
std::string_view missing_for_step(const Asked& asked) {
  const SettingsView& say = asked.say;
  if (!has_distributed_optimizer(asked)) {
    return "use_distributed_optimizer";
  }
  if (!say.on("overlap_param_gather", asked.job.layout.overlaps(describe::Overlap::kParamGather))) {
    return "overlap_param_gather";
  }
  if (asked.job.layout.vpp == 1) {
    return "vpp > 1";
  }
  const std::string format = checkpoint_format(say);
  return format.empty() || format == "torch" ? "" : "ckpt_format torch";
}

void check_step_overlap(const Asked& asked) {
  if (!asked.say.on("overlap_param_gather_with_optimizer_step")) {
    return;
  }
  const std::string_view missing = missing_for_step(asked);
  if (!missing.empty()) {
    asked.broken("MEGATRON-GATHER-WITH-STEP",
                 fmt::format("overlap_param_gather_with_optimizer_step without {}", missing),
                 {"without overlap_param_gather_with_optimizer_step"});
  }
}

bool is_tied(const Asked& asked) {
  return !asked.say.on("untie_embeddings_and_output_weights", !asked.job.model.tied_head);
}

// What PyTorch's FSDP2 cannot live with, or nothing.
std::string_view against_torch_fsdp(const Asked& asked) {
  const SettingsView& say = asked.say;
  if (asked.job.layout.pp > 1) {
    return "pp > 1";
  }
  if (asked.job.layout.ep > 1) {
    return "ep > 1";
  }
  if (say.on("use_distributed_optimizer")) {
    return "use_distributed_optimizer";
  }
  if (say.on("gradient_accumulation_fusion", !say.has_recipe())) {
    return "gradient_accumulation_fusion (on by default)";
  }
  if (is_tied(asked)) {
    return "tied embeddings";
  }
  if (say.on("fp16")) {
    return "fp16";
  }
  return say.environment(kConnections) == "1" ? "CUDA_DEVICE_MAX_CONNECTIONS=1" : "";
}

// What Megatron-FSDP cannot live with, or nothing.
std::string against_megatron_fsdp(const Asked& asked) {
  const SettingsView& say = asked.say;
  const std::string optimizer = say.word("optimizer").value_or("adam");
  if (optimizer != "adam" && optimizer != "sgd") {
    return fmt::format("optimizer {}", printable(optimizer));
  }
  const std::string format = checkpoint_format(say);
  if (!format.empty() && format != "fsdp_dtensor") {
    return fmt::format("ckpt_format {}", printable(format));
  }
  return say.environment(kConnections) == "1" ? "CUDA_DEVICE_MAX_CONNECTIONS=1" : "";
}

void check_fsdp(const Asked& asked) {
  if (asked.say.on("use_torch_fsdp2")) {
    const std::string_view against = against_torch_fsdp(asked);
    if (!against.empty()) {
      asked.broken("MEGATRON-TORCH-FSDP", fmt::format("use_torch_fsdp2 with {}", against),
                   {"use_megatron_fsdp"});
    }
  }
  if (asked.say.on("use_megatron_fsdp")) {
    const std::string against = against_megatron_fsdp(asked);
    if (!against.empty()) {
      asked.broken("MEGATRON-FSDP", fmt::format("use_megatron_fsdp with {}", against),
                   {"optimizer=adam", "ckpt_format=fsdp_dtensor"});
    }
  }
}

// What weight shards cannot live with, or nothing.
std::string against_weight_shards(const Asked& asked, std::int64_t shards) {
  const SettingsView& say = asked.say;
  const std::int64_t tp = asked.job.layout.tp;
  if (shards < tp || shards % tp != 0) {
    return fmt::format("{} shards, no multiple of tp={}", shards, tp);
  }
  if (asked.job.dp() > 0 && asked.job.dp() % (shards / tp) != 0) {
    return fmt::format("a factor of {} that does not divide dp={}", shards / tp, asked.job.dp());
  }
  const std::string format = checkpoint_format(say);
  if (!format.empty() && format != "torch" && format != "torch_dist") {
    return fmt::format("ckpt_format {}", printable(format));
  }
  if (say.on("ddp_average_in_collective")) {
    return "ddp_average_in_collective";
  }
  if (say.number("num_distributed_optimizer_instances").value_or(1) != 1) {
    return "several optimizer instances";
  }
  const bool mxfp8 = say.given("fp8") && say.word("fp8_recipe") == "mxfp8";
  return mxfp8 && !(say.may_be_on("fp8_param_gather") &&
                    say.may_be_on("reuse_grad_buf_for_mxfp8_param_ag"))
             ? "MXFP8 without fp8_param_gather and reuse_grad_buf_for_mxfp8_param_ag"
             : "";
}

void check_weight_shards(const Asked& asked) {
  const auto shards = asked.say.number("tensor_parallel_num_weight_shards");
  if (!shards || *shards == asked.job.layout.tp) {
    return;
  }
  const std::string against = against_weight_shards(asked, *shards);
  if (!against.empty()) {
    asked.broken("MEGATRON-GTP", fmt::format("tensor_parallel_num_weight_shards with {}", against),
                 {fmt::format("tensor_parallel_num_weight_shards={}", asked.job.layout.tp)});
  }
}

void check_connections(const Asked& asked) {
  const describe::Device& device = asked.job.cluster.device;
  const bool needs_order = asked.job.layout.tp > 1 || asked.job.layout.cp > 1;
  const bool orders_itself =
      device.vendor != describe::Vendor::kNvidia || device.generation.starts_with("blackwell");
  const auto value = asked.say.environment(kConnections);
  if (!needs_order || orders_itself || has_fsdp(asked) || value == "1" ||
      (!value && (asked.say.has_recipe() || !asked.say.settings().printed.empty()))) {
    return;
  }
  // Not in the files may still be in the environment; overlapped experts want 32, and a recipe does
  // not go through Megatron-LM's check.
  const bool wanted = asked.job.layout.overlaps(describe::Overlap::kExpert);
  const bool refused = value && !asked.say.has_recipe() && !wanted;
  asked.broken("MEGATRON-CONNECTIONS",
               fmt::format("CUDA_DEVICE_MAX_CONNECTIONS is {} with tp={}, cp={} on {}",
                           value ? printable(*value) : "not set", asked.job.layout.tp,
                           asked.job.layout.cp, device.name),
               {"CUDA_DEVICE_MAX_CONNECTIONS=1"}, refused ? Severity::kIllegal : Severity::kRisk);
}

}  // namespace

void check_megatron_sharding(const Asked& asked) {
  check_optimizer(asked);
  check_step_overlap(asked);
  check_fsdp(asked);
  check_weight_shards(asked);
  check_connections(asked);
}

}  // namespace sextant::emit
