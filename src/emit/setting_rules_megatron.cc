// Megatron's rules about the model, batch, precision, recomputation and experts.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/layout/rule_nearest.h"
#include "emit/setting_rules_view.h"

namespace sextant::emit {
namespace {

using describe::Severity;

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_full_recompute(const Asked& asked) {
  const auto granularity = asked.say.word("recompute_granularity");
  return granularity ? *granularity == "full"
                     : asked.job.layout.recompute.granularity == describe::Recompute::kFull;
}

void check_removed(const Asked& asked) {
  if (asked.say.has_recipe()) {
    return;
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kRemoved{
      {{"batch_size", "--micro-batch-size"},
       {"checkpoint_activations", "--recompute-granularity"},
       {"model_parallel_size", "--tensor-model-parallel-size"},
       {"use_custom_fsdp", "--use-megatron-fsdp"}}};
  for (const auto& [old, now] : kRemoved) {
    if (asked.say.given(old)) {
      asked.broken("MEGATRON-REMOVED-FLAG", fmt::format("{} is gone", old), {std::string(now)});
    }
  }
}

void check_model(const Asked& asked) {
  const SettingsView& say = asked.say;
  const auto hidden = say.number("hidden_size");
  const auto heads = say.number("num_attention_heads");
  if (hidden && heads && *heads > 0 && !say.given("kv_channels") &&
      !say.on("multi_latent_attention") && *hidden % *heads != 0) {
    asked.broken("MEGATRON-HEAD-WIDTH",
                 fmt::format("hidden_size {} is no multiple of {} heads, and kv_channels is not "
                             "given",
                             *hidden, *heads),
                 {"kv_channels=the head's width"});
  }
  const auto positions = say.number("max_position_embeddings");
  const std::int64_t length = say.number("seq_length").value_or(asked.job.sequences.length);
  if (positions && *positions < length) {
    asked.broken("MEGATRON-POSITIONS",
                 fmt::format("max_position_embeddings {} is less than {}", *positions, length),
                 {fmt::format("max_position_embeddings={}", length)});
  }
  if (say.on("multi_latent_attention") && say.on("group_query_attention")) {
    asked.broken("MEGATRON-MLA-GQA", "group_query_attention on latent attention",
                 {"without group_query_attention"});
  }
  if (!say.has_recipe() && say.word("cross_entropy_fusion_impl") == "te") {
    asked.broken("MEGATRON-TE-LOSS", "cross_entropy_fusion_impl te",
                 {"cross_entropy_fusion_impl=native"});
  }
  if (say.on("enable_mhc_connections") &&
      (asked.job.layout.pp > 1 || say.number("mtp_num_layers").value_or(0) > 0 ||
       is_full_recompute(asked))) {
    asked.broken("MEGATRON-HYPER",
                 fmt::format("enable_mhc_connections with pp={}, {} MTP layers and {} recompute",
                             asked.job.layout.pp, say.number("mtp_num_layers").value_or(0),
                             is_full_recompute(asked) ? "full" : "no full"),
                 {"pp=1", "recompute=selective"});
  }
}

void check_context_exchange(const Asked& asked) {
  const std::int64_t cp = asked.job.layout.cp;
  const std::vector<std::string> methods = asked.say.words("cp_comm_type");
  const auto layers = static_cast<std::size_t>(asked.job.model.layer_count());
  if (methods.size() > 1 && methods.size() != layers) {
    asked.broken("MEGATRON-CP-COMM-LIST",
                 fmt::format("{} words of cp_comm_type for {} layers", methods.size(), layers),
                 {fmt::format("cp_comm_type={}", printable(methods.front()))});
  }
  if (cp == 1 || !contains(methods, "a2a+p2p")) {
    return;
  }
  std::int64_t product = 1;
  const std::vector<std::string> sizes = asked.say.words("hierarchical_context_parallel_sizes");
  for (const std::string& size : sizes) {
    product =
        saturating_product({product, std::max<std::int64_t>(to_integer(size).value_or(0), 0)});
  }
  if ((sizes.empty() && !asked.say.has_recipe()) || (!sizes.empty() && product != cp)) {
    asked.broken("MEGATRON-CP-HIERARCHY",
                 sizes.empty()
                     ? "cp_comm_type a2a+p2p without hierarchical_context_parallel_sizes"
                     : fmt::format("hierarchical sizes multiply to {}, not cp={}", product, cp),
                 {fmt::format("hierarchical_context_parallel_sizes=2 {}", cp / 2)});
  }
}

void check_batch(const Asked& asked) {
  const SettingsView& say = asked.say;
  const describe::Layout& at = asked.job.layout;
  const std::int64_t dp = asked.job.dp();
  const auto evaluated = say.number("eval_global_batch_size");
  const std::int64_t step = saturating_product(
      {std::max<std::int64_t>(say.number("eval_micro_batch_size").value_or(at.mbs), 1), dp});
  if (evaluated && step > 0 && *evaluated > 0 && *evaluated % step != 0) {
    asked.broken("MEGATRON-EVAL-BATCH",
                 fmt::format("an evaluation batch of {} is no multiple of {}", *evaluated, step),
                 describe::nearest_multiples("eval_global_batch_size", step, *evaluated));
  }
  if (say.given("step_batch_size_schedule") &&
      (say.given("global_batch_size") || say.given("rampup_batch_size"))) {
    asked.broken("MEGATRON-BATCH-SCHEDULE",
                 "step_batch_size_schedule beside global_batch_size or rampup_batch_size",
                 {"without global_batch_size"});
  }
  const auto group = say.number("microbatch_group_size_per_vp_stage");
  const std::int64_t microbatches = asked.job.microbatches();
  if (!group || at.vpp == 1 || at.pp == 1 || microbatches == 0) {
    return;
  }
  const bool outside = *group < at.pp || *group > microbatches;
  const std::int64_t rest = outside ? 0 : microbatches % *group;
  if (outside || (rest != 0 && rest < at.pp)) {
    asked.broken(
        "MEGATRON-VPP-MICROBATCHES",
        fmt::format("a group of {} microbatches of {} with pp={}", *group, microbatches, at.pp),
        {fmt::format("microbatch_group_size_per_vp_stage={}",
                     microbatches % at.pp == 0 ? at.pp : microbatches)});
  }
}

void check_precision(const Asked& asked) {
  const SettingsView& say = asked.say;
  if (say.on("fp16") && say.on("bf16")) {
    asked.broken("MEGATRON-FP16-BF16", "fp16 and bf16 together", {"bf16"});
  }
  if (say.given("fp4") && say.given("fp8")) {
    asked.broken("MEGATRON-FP4-FP8", "fp4_format and fp8_format together",
                 {"without fp8_format", "without fp4_format"});
  } else if (say.on("fp4_param_gather") && !say.given("fp4") && !say.has_recipe()) {
    asked.broken("MEGATRON-FP4-FP8", "fp4_param_gather without fp4_format", {"fp4_format=e2m1"});
  }
}

// Why a module cannot be recomputed, or nothing.
std::string_view why_not_recomputed(const Asked& asked, std::string_view module) {
  const SettingsView& say = asked.say;
  const bool delayed = say.given("fp8") && say.word("fp8_recipe").value_or("delayed") == "delayed";
  if (module == "moe_act" && !say.may_be_on("moe_grouped_gemm")) {
    return "needs moe_grouped_gemm";
  }
  if (module == "shared_experts" && say.on("moe_shared_expert_overlap")) {
    return "excludes moe_shared_expert_overlap";
  }
  if (delayed && (module == "moe_act" || module == "layernorm")) {
    return "excludes the delayed FP8 recipe";
  }
  return {};
}

void check_recompute(const Asked& asked) {
  const SettingsView& say = asked.say;
  const auto granularity = say.word("recompute_granularity");
  const bool full = granularity == "full";
  const bool method = say.given("recompute_method");
  const bool layers = say.given("recompute_num_layers");
  if (full && !say.has_recipe() && (!method || !layers)) {
    asked.broken("MEGATRON-RECOMPUTE-ARGS",
                 fmt::format("full recomputation without {}",
                             method ? "recompute_num_layers" : "recompute_method"),
                 {"recompute_method=uniform", "recompute_num_layers=1"});
  }
  if (granularity == "selective" && (method || layers)) {
    asked.broken("MEGATRON-RECOMPUTE-ARGS",
                 fmt::format("selective recomputation with {}",
                             method ? "recompute_method" : "recompute_num_layers"),
                 {"without recompute_method and recompute_num_layers"});
  }
  if (!full) {
    for (const std::string& module : say.words("recompute_modules")) {
      const std::string_view why = why_not_recomputed(asked, module);
      if (!why.empty()) {
        asked.broken("MEGATRON-RECOMPUTE-MODULES", fmt::format("{} {}", printable(module), why));
      }
    }
  }
}

// What does not go with recomputation, or only with it.
void check_activations(const Asked& asked) {
  const SettingsView& say = asked.say;
  const describe::Layout& at = asked.job.layout;
  if (say.on("distribute_saved_activations") &&
      (at.tp == 1 || at.sp || !is_full_recompute(asked))) {
    asked.broken(
        "MEGATRON-DISTRIBUTE-SAVED",
        fmt::format("distribute_saved_activations with tp={}, sp={}", at.tp, at.sp ? 1 : 0),
        {"without distribute_saved_activations"});
  }
  const std::string graphs = say.word("cuda_graph_impl").value_or("none");
  const bool of_layers = graphs == "local" || graphs == "transformer_engine" ||
                         say.on("enable_cuda_graph") || say.on("external_cuda_graph");
  if (of_layers && is_full_recompute(asked)) {
    asked.broken("MEGATRON-GRAPH-RECOMPUTE", "CUDA graphs of layers with full recomputation",
                 {"cuda_graph_impl=full_iteration", "recompute_granularity=selective"});
  }
  if (say.number("cpu_offloading_num_layers").value_or(0) > 0 &&
      (at.pp > 1 || at.recompute.granularity != describe::Recompute::kNone)) {
    asked.broken("MEGATRON-CPU-OFFLOAD",
                 fmt::format("cpu_offloading_num_layers with pp={} or recomputation", at.pp),
                 {"fine_grained_activation_offloading"});
  }
}

void check_experts(const Asked& asked) {
  const SettingsView& say = asked.say;
  const bool overlap = say.on("overlap_moe_expert_parallel_comm",
                              asked.job.layout.overlaps(describe::Overlap::kExpert));
  const bool shared = say.on("moe_shared_expert_overlap");
  if (overlap && shared) {
    asked.broken("MEGATRON-EP-OVERLAP", "overlap=ep: moe_shared_expert_overlap is on",
                 {"without moe_shared_expert_overlap"});
  }
  if (say.on("delay_wgrad_compute") && !overlap) {
    asked.broken("MEGATRON-DELAY-WGRAD",
                 "delay_wgrad_compute without overlap_moe_expert_parallel_comm",
                 {"overlap_moe_expert_parallel_comm", "without delay_wgrad_compute"});
  }
  // Megatron's own default is the all-gather; a recipe's dispatcher is the job's.
  const bool gathers = asked.job.layout.dispatcher == describe::Dispatcher::kAllGather;
  const std::string dispatcher =
      say.word("moe_token_dispatcher_type")
          .value_or(say.has_recipe() && !gathers ? "alltoall" : "allgather");
  if (shared && dispatcher == "allgather") {
    asked.broken("MEGATRON-SHARED-OVERLAP", "moe_shared_expert_overlap with dispatcher allgather",
                 {"moe_token_dispatcher_type=alltoall"});
  }
  if (say.on("moe_pad_expert_input_to_capacity") && !say.given("moe_expert_capacity_factor") &&
      !say.has_recipe()) {
    asked.broken("MEGATRON-CAPACITY",
                 "moe_pad_expert_input_to_capacity without moe_expert_capacity_factor",
                 {"moe_expert_capacity_factor=1.0"});
  }
  if (!say.given("moe_expert_capacity_factor")) {
    return;
  }
  for (const std::string& kind : say.words("moe_router_load_balancing_type")) {
    if (kind != "none" && !kind.ends_with("aux_loss")) {
      asked.broken("MEGATRON-CAPACITY",
                   fmt::format("moe_expert_capacity_factor with {} balancing", printable(kind)),
                   {"moe_router_load_balancing_type=aux_loss"});
    }
  }
}

}  // namespace

void check_megatron_settings(const Asked& asked) {
  check_removed(asked);
  check_model(asked);
  check_context_exchange(asked);
  check_batch(asked);
  check_precision(asked);
  check_recompute(asked);
  check_activations(asked);
  check_experts(asked);
}

}  // namespace sextant::emit
