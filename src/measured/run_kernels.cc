// Which kernels a runs row ran, how they were launched, and what ran beside them.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "measured/row_tools.h"
#include "measured/run_reading.h"

namespace sextant::measured {

namespace {

using describe::Framework;
using describe::Layout;
using describe::Overlap;

// Inferred from the rows' memory: compiled torchtitan runs of 2024-12 (TTN-003) fit with the plain
// loss, the one of 2025-06 (TTN-032) only with a fused one.
constexpr int kCompiledLossSince = 2025;
constexpr int kFlashEverywhereSince = 2023;  // FlashAttention (2022-05) reached trainers that year
// PyTorch 2.9 asks flash first, 2.11 cuDNN (both seen); the year stands for what lies between.
constexpr int kCudnnFirstSince = 2026;

void read_attention(Reading& at) {
  using describe::AttentionKernel;
  Layout& layout = at.out.layout;
  const std::string kernel = to_lower(at.run.attention);
  const int year = year_of(at.run.date).value_or(kFlashEverywhereSince);
  const bool engine = is_megatron(at.out.framework) || at.out.framework == Framework::kMaxtext ||
                      contains(kernel, "te)");
  if (contains(kernel, "no flash") || contains(kernel, "not flash") || contains(kernel, "fused")) {
    layout.attention = AttentionKernel::kFused;
  } else if (contains(kernel, "v1") || contains(to_lower(at.run.framework), "llm-foundry")) {
    layout.attention = AttentionKernel::kFlash1;
    at.assume("attention", "flash1", "llm-foundry 0.0.4: flash-attn 1 or its Triton copy");
  } else if (contains(kernel, "cudnn")) {
    layout.attention = AttentionKernel::kCudnn;
  } else if (kernel.empty() && is_megatron(at.out.framework) && year < kFlashEverywhereSince) {
    layout.attention = AttentionKernel::kFused;
    at.assume("attention", "fused-softmax", "before flash attention");
  } else if (engine || (kernel.empty() && year >= kCudnnFirstSince)) {
    return;  // flash of whatever make the libraries pick
  } else if (kernel.empty()) {
    at.assume("attention", "flash", "PyTorch before 2.10 asks for it first");
  }
  at.given.emplace_back("attention");
}

// NVIDIA's recipes take DeepEP or HybridEP where experts are spread over several nodes.
constexpr Month kExpertLibrarySince{2025, 9};

void read_dispatcher(Reading& at) {
  constexpr std::int64_t kNode = 8;
  Layout& layout = at.out.layout;
  if (at.flags.mention("deepep") || at.flags.mention("hybridep")) {
    layout.dispatcher = describe::Dispatcher::kDeepEp;
  } else if (at.out.framework == Framework::kMegatronCore && layout.ep > kNode &&
             has_eight_bits(at.run.device) && is_since(at.run.date, kExpertLibrarySince)) {
    layout.dispatcher = describe::Dispatcher::kDeepEp;
    at.assume("dispatcher", "deepep",
              "not stated; NVIDIA's recipes since 25.09, experts over nodes");
  }
}

// Racks (GB200, GB300) since 26.06: the whole iteration is one CUDA graph, and expert messages of
// one microbatch run beside another. Of the rows that state their flags all but Kimi-K2's say so.
bool runs_in_one_graph(const Reading& at) {
  constexpr Month kSince{2026, 6};
  return has_experts(at.model) && at.run.device.starts_with("gb") && !at.flags.mention("moe_") &&
         !at.flags.mention("cuda_graph") && contains(at.run.framework, "Megatron-Bridge") &&
         is_since(at.run.date, kSince);
}

void set_overlap(Layout& layout, Overlap what, bool on) {
  const auto found = std::find(layout.overlap.begin(), layout.overlap.end(), what);
  if (on && found == layout.overlap.end()) {
    layout.overlap.push_back(what);
    std::sort(layout.overlap.begin(), layout.overlap.end());
  } else if (!on && found != layout.overlap.end()) {
    layout.overlap.erase(found);
  }
}

}  // namespace

void read_kernels(Reading& at) {
  using describe::Launch;
  Layout& layout = at.out.layout;
  read_attention(at);
  const std::string_view graph = at.flags.value("cuda_graph_impl").value_or("none");
  // Graphs of parts of a layer leave the experts to the host.
  const bool whole = !describe::has_experts(at.model) || graph == "full_iteration";
  const bool graphs =
      (graph != "none" && whole) || at.flags.on("LAYER_CUDA_GRAPH").value_or(false) ||
      at.flags.on("MCORE_CUDA_GRAPH").value_or(false) || at.flags.mention("cuda graph ");
  if (graphs) {
    layout.launch = Launch::kCudaGraph;
  } else if (runs_in_one_graph(at)) {
    layout.launch = Launch::kCudaGraph;
    at.assume("compile", "cuda-graph",
              "not stated; NVIDIA's recipes for experts on racks since 26.06");
  } else if (at.flags.mention("compile") || contains(at.run.framework, "torch.compile")) {
    layout.launch = Launch::kCompiled;
  }
  // "... + AC": the row adds to what the rows before it switched on.
  if (at.run.flags.starts_with("...")) {
    layout.launch = Launch::kCompiled;
    layout.loss = describe::LossKernel::kChunked;
    at.given.emplace_back("loss");
    at.assume("compile", 1, "\"...\": as in the rows before");
    at.assume("loss", "chunked", "\"...\": as in the rows before");
  }
  if (layout.launch != Launch::kEager) {
    at.given.emplace_back("compile");
  }
  if (at.flags.mention("ce fusion")) {
    layout.loss = at.flags.mention("ce fusion (te)") ? describe::LossKernel::kInPlace
                                                     : describe::LossKernel::kFused;
    at.given.emplace_back("loss");
  } else if (contains(to_lower(at.run.framework), "llm-foundry")) {
    layout.loss = describe::LossKernel::kInPlace;
    at.given.emplace_back("loss");
    at.assume("loss", "in-place", "llm-foundry's loss_fn: fused_crossentropy");
  } else if (at.out.framework == Framework::kTorchtitan && layout.launch == Launch::kCompiled &&
             year_of(at.run.date).value_or(kCompiledLossSince) >= kCompiledLossSince) {
    layout.loss = describe::LossKernel::kFused;
    at.given.emplace_back("loss");
    at.assume("loss", "fused", "torchtitan compiles the loss since 2025: inferred from memory");
  } else if (at.flags.mention("chunked ce")) {
    layout.loss = describe::LossKernel::kChunked;
    at.given.emplace_back("loss");
  }
  read_dispatcher(at);
  if (at.flags.value("cp_comm_type") == "a2a") {
    layout.cp_method = describe::CpMethod::kAllToAll;
  }
}

void read_overlaps(Reading& at) {
  Layout& layout = at.out.layout;
  const auto apply = [&](Overlap what, std::optional<bool> on) {
    if (on) {
      set_overlap(layout, what, *on);
    }
  };
  if (is_dense_recipe(at) && layout.tp > 1 && layout.sp && !at.flags.on("TP_COMM_OVERLAP")) {
    set_overlap(layout, Overlap::kTensorParallel, true);
    at.assume("overlap", "tp", "not stated; NVIDIA's recipes");
  }
  if (layout.pp > 1 && layout.vpp > 1 && is_megatron(at.out.framework)) {
    // overlap_p2p_communication is on by default where chunks are interleaved.
    set_overlap(layout, Overlap::kPipeline, true);
  }
  if (contains(to_lower(at.run.framework), "internevo")) {
    set_overlap(layout, Overlap::kGradReduce, true);
    at.assume("overlap", "grad_reduce", "InternEvo's overlap_sync_grad, on in its configurations");
  }
  apply(Overlap::kGradReduce, at.flags.on("OVERLAP_GRAD_REDUCE"));
  apply(Overlap::kParamGather, at.flags.on("OVERLAP_PARAM_GATHER"));
  apply(Overlap::kTensorParallel, at.flags.on("TP_COMM_OVERLAP"));
  apply(Overlap::kExpert, at.flags.on("moe_a2a_overlap"));
  if (runs_in_one_graph(at)) {
    set_overlap(layout, Overlap::kExpert, true);
    at.assume("overlap", "ep", "not stated; NVIDIA's recipes for experts on racks since 26.06");
  }
  const auto mention = [&](std::string_view text, Overlap what) {
    if (at.flags.mention(text)) {
      set_overlap(layout, what, true);
    }
  };
  mention("overlap-grad-reduce", Overlap::kGradReduce);
  mention("overlap-param-gather", Overlap::kParamGather);
  mention("tp-comm-overlap", Overlap::kTensorParallel);
  mention("async tp", Overlap::kTensorParallel);
  mention("asynctp", Overlap::kTensorParallel);
  mention("pp p2p overlap", Overlap::kPipeline);
  mention("a2a overlap", Overlap::kExpert);
  // Flags listed once for all sizes; NeMo's recipes leave it on and NeMo drops it.
  if (layout.tp == 1 && layout.overlaps(Overlap::kTensorParallel)) {
    set_overlap(layout, Overlap::kTensorParallel, false);
    at.assume("overlap", "without tp", "tp=1: nothing to overlap");
  }
}

}  // namespace sextant::measured
