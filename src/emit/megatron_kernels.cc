#include <algorithm>
#include <array>

#include "emit/megatron_meaning.h"

namespace sextant::emit {
namespace {

using describe::AttentionKernel;
using describe::Dispatcher;
using describe::Launch;
using describe::Layout;
using describe::LossKernel;
using describe::Recompute;
using describe::RecomputeMethod;
using describe::RecomputeModule;

constexpr std::array<describe::Word<RecomputeModule>, 7> kModuleWords{
    {{RecomputeModule::kCoreAttention, "core_attn"},
     {RecomputeModule::kLayerNorm, "layernorm"},
     {RecomputeModule::kMlp, "mlp"},
     {RecomputeModule::kMoe, "moe"},
     {RecomputeModule::kMoeActivation, "moe_act"},
     {RecomputeModule::kMlaUpProjection, "mla_up_proj"},
     {RecomputeModule::kSharedExperts, "shared_experts"}}};

// "auto" is a flash kernel of somebody's: Transformer Engine chooses whose.
constexpr std::string_view kAnyBackend = "auto";
constexpr std::array<describe::Word<AttentionKernel>, 5> kAttentionBackendWords{
    {{AttentionKernel::kFlash, kAnyBackend},
     {AttentionKernel::kFlash, "flash"},
     {AttentionKernel::kCudnn, "fused"},
     {AttentionKernel::kEager, "unfused"},
     {AttentionKernel::kFused, "local"}}};

constexpr std::array<describe::Word<Dispatcher>, 3> kDispatcherWords{
    {{Dispatcher::kAllGather, "allgather"},
     {Dispatcher::kAllToAll, "alltoall"},
     {Dispatcher::kDeepEp, "flex"}}};

void write_recompute(const describe::RecomputePolicy& policy, ArgumentWriter& out) {
  const bool bridge = out.program() == Megatron::kBridge;
  if (policy.granularity == Recompute::kFull) {
    out.word("recompute_granularity", "full");
    out.word("recompute_method", policy.method == RecomputeMethod::kBlock ? "block" : "uniform");
    out.number("recompute_num_layers", std::max<std::int64_t>(policy.layers, 1));
    return;
  }
  std::vector<std::string> modules;
  for (const RecomputeModule module : policy.modules) {
    const std::string_view word = describe::word_of<RecomputeModule>(kModuleWords, module);
    if (word != "?") {
      modules.emplace_back(word);
    }
  }
  if (policy.granularity == Recompute::kSelective && !modules.empty()) {
    out.word("recompute_granularity", "selective");
    out.words("recompute_modules", std::move(modules));
  } else if (bridge) {
    out.word("recompute_granularity", "null");
  }
}

void read_recompute_modules(ArgumentReader& in, describe::RecomputePolicy& policy) {
  const std::vector<std::string> words = in.words("recompute_modules");
  if (words.empty()) {
    policy.modules = {RecomputeModule::kCoreAttention};
  }
  for (const std::string& word : words) {
    const auto module = describe::parse_word<RecomputeModule>(kModuleWords, word, "module", {});
    if (module) {
      policy.modules.push_back(*module);
    } else {
      in.unresolved("recompute_modules", "'" + word + "' is a module this program does not know");
    }
  }
  std::sort(policy.modules.begin(), policy.modules.end());
  policy.modules.erase(std::unique(policy.modules.begin(), policy.modules.end()),
                       policy.modules.end());
}

void read_recompute(ArgumentReader& in, describe::RecomputePolicy& policy) {
  in.field("recompute");
  policy = {};
  const auto granularity = in.word("recompute_granularity");
  if (!granularity) {
    return;
  }
  if (*granularity == "selective") {
    policy.granularity = Recompute::kSelective;
    read_recompute_modules(in, policy);
  } else if (*granularity == "full") {
    policy.granularity = Recompute::kFull;
    const bool block = in.word("recompute_method").value_or("uniform") == "block";
    const std::int64_t layers = in.number("recompute_num_layers", 1, 1'000'000).value_or(1);
    if (block || layers > 1) {  // a chunk of one layer is plain "full"
      policy.method = block ? RecomputeMethod::kBlock : RecomputeMethod::kUniform;
      policy.layers = layers;
    }
  } else {
    in.unresolved("recompute_granularity", "it is neither selective nor full");
  }
}

void write_loss(LossKernel loss, ArgumentWriter& out) {
  out.flag("cross_entropy_loss_fusion", loss != LossKernel::kPlain);
  // Megatron-LM refuses Transformer Engine's kernel when training; Megatron-Bridge uses it.
  const bool in_place = loss == LossKernel::kInPlace && out.program() == Megatron::kBridge;
  if (loss != LossKernel::kPlain) {
    out.word("cross_entropy_fusion_impl", in_place ? "te" : "native");
  }
}

LossKernel read_loss(ArgumentReader& in) {
  in.field("loss");
  const bool bridge = in.program() == Megatron::kBridge;
  if (!in.flag("cross_entropy_loss_fusion", bridge)) {
    return LossKernel::kPlain;
  }
  const std::string usual = bridge ? "te" : "native";
  return in.word("cross_entropy_fusion_impl").value_or(usual) == "te" ? LossKernel::kInPlace
                                                                      : LossKernel::kFused;
}

void write_graphs(const describe::Job& job, ArgumentWriter& out) {
  if (job.layout.launch != Launch::kCudaGraph) {
    if (out.program() == Megatron::kBridge) {
      out.word("cuda_graph_impl", "none");
    }
    return;
  }
  // Layers that are computed again can only be captured with the whole iteration.
  if (job.layout.recompute.granularity == Recompute::kFull) {
    out.word("cuda_graph_impl", "full_iteration");
  } else {
    out.word("cuda_graph_impl", "transformer_engine");
    out.words("cuda_graph_modules",
              {"attn", describe::has_experts(job.model) ? "moe_router" : "mlp"});
  }
  out.flag("te_rng_tracker", true);
}

void write_dispatcher(const describe::Job& job, ArgumentWriter& out) {
  if (!describe::has_experts(job.model)) {
    return;
  }
  out.word("moe_token_dispatcher_type",
           describe::word_of<Dispatcher>(kDispatcherWords, job.layout.dispatcher));
  if (job.layout.dispatcher == Dispatcher::kDeepEp) {
    out.word("moe_flex_dispatcher_backend", "deepep");
  }
  out.flag("moe_grouped_gemm", true);
}

Dispatcher read_dispatcher(ArgumentReader& in) {
  in.field("dispatcher");
  const bool bridge = in.program() == Megatron::kBridge;
  const std::string usual = bridge ? "alltoall" : "allgather";
  const std::string word = in.word("moe_token_dispatcher_type").value_or(usual);
  const auto found = describe::parse_word<Dispatcher>(kDispatcherWords, word, "dispatcher", {});
  if (!found) {
    in.unresolved("moe_token_dispatcher_type", "it is none of allgather, alltoall, flex");
    return Dispatcher::kAllToAll;
  }
  if (*found == Dispatcher::kDeepEp) {
    in.word("moe_flex_dispatcher_backend");
  }
  return *found;
}

void read_attention_backend(ArgumentReader& in, Reading& reading) {
  in.field("attention");
  const bool local = in.word("transformer_impl").value_or("") == "local";
  const auto word = in.word("attention_backend");
  if (!word) {
    reading.layout.attention = local ? AttentionKernel::kFused : AttentionKernel::kFlash;
    return;
  }
  const auto found =
      describe::parse_word<AttentionKernel>(kAttentionBackendWords, *word, "backend", {});
  if (!found) {
    in.unresolved("attention_backend", "it is none of auto, flash, fused, unfused, local");
  }
  reading.layout.attention = found.value_or(AttentionKernel::kFlash);
  reading.attention_stated = found && *word != kAnyBackend;
}

// Flash attention that nobody asked for is left to Transformer Engine.
std::string_view attention_backend(const describe::Job& job) {
  const std::string_view backend =
      describe::word_of<AttentionKernel>(kAttentionBackendWords, job.layout.attention);
  return backend == "?" || (backend == kAnyBackend && job.states("attention")) ? "flash" : backend;
}

}  // namespace

void write_kernels(const describe::Job& job, ArgumentWriter& out) {
  const Layout& layout = job.layout;
  write_recompute(layout.recompute, out);
  out.flag("fine_grained_activation_offloading", layout.activation_offload);
  if (layout.activation_offload) {
    out.words("offload_modules", {"core_attn", "attn_proj"});
  }
  out.word("attention_backend", attention_backend(job));
  write_loss(layout.loss, out);
  write_graphs(job, out);
  write_dispatcher(job, out);
}

void read_kernels(ArgumentReader& in, bool experts, Reading& reading) {
  Layout& layout = reading.layout;
  read_recompute(in, layout.recompute);
  in.field("activation_offload");
  layout.activation_offload = in.flag("fine_grained_activation_offloading", false) ||
                              in.number("cpu_offloading_num_layers", 0, 1'000'000).value_or(0) > 0;
  read_attention_backend(in, reading);
  layout.loss = read_loss(in);
  in.field("compile");
  const std::string graphs = in.word("cuda_graph_impl").value_or("none");
  layout.launch = graphs == "none" ? Launch::kEager : Launch::kCudaGraph;
  if (experts) {
    layout.dispatcher = read_dispatcher(in);
  }
}

}  // namespace sextant::emit
