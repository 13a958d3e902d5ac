// A Layout: how one training job is spread over devices and time, in the project's own words.
//
// Every framework's flags translate into this type and out of it (emit/). A Layout says nothing
// about the model or the cluster: whether the three fit together is the business of
// describe/layout/rules.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/integers.h"
#include "describe/words.h"

namespace sextant::describe {

enum class Framework {
  kMegatronCore,
  kMegatronDeepspeed,
  kTorchtitan,
  kFsdp1,
  kDeepspeed,
  kMaxtext,
  kAccelerate,
  kNanotron,
  kOther,
};
inline constexpr std::array<Word<Framework>, 10> kFrameworkWords{
    {{Framework::kMegatronCore, "megatron-core"},
     {Framework::kMegatronCore, "megatron"},
     {Framework::kMegatronDeepspeed, "megatron-deepspeed"},
     {Framework::kTorchtitan, "torchtitan"},
     {Framework::kFsdp1, "fsdp1"},
     {Framework::kDeepspeed, "deepspeed"},
     {Framework::kMaxtext, "maxtext"},
     {Framework::kAccelerate, "accelerate"},
     {Framework::kNanotron, "nanotron"},
     {Framework::kOther, "other"}}};

enum class CpMethod { kP2pRing, kAllGather, kAllToAll, kAllToAllP2p };
inline constexpr std::array<Word<CpMethod>, 6> kCpMethodWords{
    {{CpMethod::kP2pRing, "p2p"},
     {CpMethod::kP2pRing, "ring"},
     {CpMethod::kAllGather, "all_gather"},
     {CpMethod::kAllToAll, "a2a"},
     {CpMethod::kAllToAll, "ulysses"},
     {CpMethod::kAllToAllP2p, "a2a+p2p"}}};

enum class Schedule {
  kGpipe,
  k1f1b,
  kInterleaved1f1b,
  kLoopedBfs,
  kInterleavedZeroBubble,
  kZbv,
  kDualPipe,
  kDualPipeV,
};
inline constexpr std::array<Word<Schedule>, 9> kScheduleWords{
    {{Schedule::kGpipe, "gpipe"},
     {Schedule::kGpipe, "afab"},
     {Schedule::k1f1b, "1f1b"},
     {Schedule::kInterleaved1f1b, "interleaved-1f1b"},
     {Schedule::kLoopedBfs, "looped-bfs"},
     {Schedule::kInterleavedZeroBubble, "interleaved-zb"},
     {Schedule::kZbv, "zbv"},
     {Schedule::kDualPipe, "dualpipe"},
     {Schedule::kDualPipeV, "dualpipev"}}};

// What data parallelism shards. kZero3 with zero_group < dp is HSDP (sharded inside, replicated
// across).
enum class Zero { kNone = 0, kOptimizer = 1, kGradients = 2, kParameters = 3 };
inline constexpr std::array<Word<Zero>, 7> kZeroWords{{{Zero::kNone, "0"},
                                                       {Zero::kOptimizer, "1"},
                                                       {Zero::kGradients, "2"},
                                                       {Zero::kParameters, "3"},
                                                       {Zero::kNone, "ddp"},
                                                       {Zero::kOptimizer, "distributed-optimizer"},
                                                       {Zero::kParameters, "fsdp"}}};

// Which activations are computed again in the backward pass.
enum class Recompute { kNone, kSelective, kFull };
inline constexpr std::array<Word<Recompute>, 3> kRecomputeWords{
    {{Recompute::kNone, "none"}, {Recompute::kSelective, "selective"}, {Recompute::kFull, "full"}}};

enum class RecomputeMethod { kUniform, kBlock };
inline constexpr std::array<Word<RecomputeMethod>, 2> kRecomputeMethodWords{
    {{RecomputeMethod::kUniform, "uniform"}, {RecomputeMethod::kBlock, "block"}}};

// Modules a selective policy may name (Megatron's words, and the offload ones of MaxText).
enum class RecomputeModule {
  kCoreAttention,
  kLayerNorm,
  kMlp,
  kMoe,
  kMoeActivation,
  kMlaUpProjection,
  kSharedExperts,
  kActivation,
  kEverySecondLayer,
  kEverySecondProduct,
};
inline constexpr std::array<Word<RecomputeModule>, 13> kRecomputeModuleWords{
    {{RecomputeModule::kCoreAttention, "core_attn"},
     {RecomputeModule::kLayerNorm, "layernorm"},
     {RecomputeModule::kMlp, "mlp"},
     {RecomputeModule::kMoe, "moe"},
     {RecomputeModule::kMoeActivation, "moe_act"},
     {RecomputeModule::kMlaUpProjection, "mla_up_proj"},
     {RecomputeModule::kSharedExperts, "shared_experts"},
     {RecomputeModule::kSharedExperts, "shared_expert"},
     {RecomputeModule::kActivation, "activation"},
     {RecomputeModule::kEverySecondLayer, "layer"},
     {RecomputeModule::kEverySecondLayer, "every_second_layer"},
     {RecomputeModule::kEverySecondProduct, "op"},
     {RecomputeModule::kEverySecondProduct, "every_second_product"}}};

struct RecomputePolicy {
  Recompute granularity = Recompute::kNone;
  RecomputeMethod method = RecomputeMethod::kUniform;  // full only
  std::int64_t layers =
      0;  // full only: layers a chunk (uniform) or recomputed a stage (block); 0: all
  std::vector<RecomputeModule> modules;  // selective only; sorted, without repeats
  bool operator==(const RecomputePolicy&) const = default;
};

// What the large matrix products run in. Weights and gradients have dtypes of their own below.
enum class Precision { kFp32, kTf32, kFp16, kBf16, kFp8, kMxfp8, kNvfp4, kInt8 };
inline constexpr std::array<Word<Precision>, 9> kPrecisionWords{{{Precision::kFp32, "fp32"},
                                                                 {Precision::kTf32, "tf32"},
                                                                 {Precision::kFp16, "fp16"},
                                                                 {Precision::kBf16, "bf16"},
                                                                 {Precision::kFp8, "fp8"},
                                                                 {Precision::kMxfp8, "mxfp8"},
                                                                 {Precision::kNvfp4, "nvfp4"},
                                                                 {Precision::kNvfp4, "fp4"},
                                                                 {Precision::kInt8, "int8"}}};

// Storage formats of parameters, gradients and optimizer states.
enum class Storage { kNone, kFp32, kBf16, kFp16, kFp8, kInt8 };
inline constexpr std::array<Word<Storage>, 6> kStorageWords{{{Storage::kNone, "none"},
                                                             {Storage::kFp32, "fp32"},
                                                             {Storage::kBf16, "bf16"},
                                                             {Storage::kFp16, "fp16"},
                                                             {Storage::kFp8, "fp8"},
                                                             {Storage::kInt8, "int8"}}};

enum class OptimizerKind { kAdam, kAdam8bit, kMuon, kSgd, kAdafactor };
inline constexpr std::array<Word<OptimizerKind>, 6> kOptimizerWords{
    {{OptimizerKind::kAdam, "adam"},
     {OptimizerKind::kAdam, "adamw"},
     {OptimizerKind::kAdam8bit, "adam8bit"},
     {OptimizerKind::kMuon, "muon"},
     {OptimizerKind::kSgd, "sgd"},
     {OptimizerKind::kAdafactor, "adafactor"}}};

struct Optimizer {
  OptimizerKind kind = OptimizerKind::kAdam;
  Storage master = Storage::kFp32;  // a copy of the parameters; none: updated in place
  Storage first_moment = Storage::kFp32;
  Storage second_moment = Storage::kFp32;
  bool offload = false;  // states live in host memory
  bool operator==(const Optimizer&) const = default;
};

enum class AttentionKernel { kFlash, kFlash1, kCudnn, kFused, kEager };
// Scores stay on the chip. kFlash1: FlashAttention 1 and its Triton copies, of 2022 and 2023.
constexpr bool is_flash(AttentionKernel kernel) {
  return kernel == AttentionKernel::kFlash || kernel == AttentionKernel::kFlash1 ||
         kernel == AttentionKernel::kCudnn;
}
inline constexpr std::array<Word<AttentionKernel>, 7> kAttentionKernelWords{
    {{AttentionKernel::kFlash, "flash"},
     {AttentionKernel::kFlash, "sdpa"},
     {AttentionKernel::kFlash1, "flash1"},
     {AttentionKernel::kCudnn, "cudnn"},
     {AttentionKernel::kFused, "fused-softmax"},
     {AttentionKernel::kEager, "eager"},
     {AttentionKernel::kEager, "math"}}};

// How logits become a loss, which decides how many copies of them live at once. Plain: an fp32
// copy, its softmax and its gradient. Fused: one fp32 copy, worked on in place. In place: no copy
// at all. Chunked: a few hundred tokens at a time.
enum class LossKernel { kPlain, kFused, kInPlace, kChunked };
inline constexpr std::array<Word<LossKernel>, 6> kLossKernelWords{
    {{LossKernel::kPlain, "plain"},
     {LossKernel::kFused, "fused"},
     {LossKernel::kFused, "native"},
     {LossKernel::kInPlace, "in-place"},
     {LossKernel::kInPlace, "te"},
     {LossKernel::kChunked, "chunked"}}};

// How kernels are issued.
enum class Launch { kEager, kCompiled, kCudaGraph };
inline constexpr std::array<Word<Launch>, 5> kLaunchWords{{{Launch::kEager, "eager"},
                                                           {Launch::kEager, "0"},
                                                           {Launch::kCompiled, "compile"},
                                                           {Launch::kCompiled, "1"},
                                                           {Launch::kCudaGraph, "cuda-graph"}}};

// Communication that the framework hides behind compute when asked to.
enum class Overlap { kGradReduce, kParamGather, kTensorParallel, kPipeline, kExpert, kContext };
inline constexpr std::array<Word<Overlap>, 6> kOverlapWords{
    {{Overlap::kGradReduce, "grad_reduce"},
     {Overlap::kParamGather, "param_gather"},
     {Overlap::kTensorParallel, "tp"},
     {Overlap::kPipeline, "p2p"},
     {Overlap::kExpert, "ep"},
     {Overlap::kContext, "cp"}}};

// How tokens reach their experts.
enum class Dispatcher { kAllToAll, kAllGather, kDeepEp };
inline constexpr std::array<Word<Dispatcher>, 4> kDispatcherWords{
    {{Dispatcher::kAllToAll, "alltoall"},
     {Dispatcher::kAllGather, "allgather"},
     {Dispatcher::kDeepEp, "deepep"},
     {Dispatcher::kDeepEp, "flex"}}};

// Parallel axes in rank order, innermost (fastest varying) first.
enum class Axis { kTp, kCp, kEp, kDp, kPp };
inline constexpr std::array<Word<Axis>, 5> kAxisWords{{{Axis::kTp, "tp"},
                                                       {Axis::kCp, "cp"},
                                                       {Axis::kEp, "ep"},
                                                       {Axis::kDp, "dp"},
                                                       {Axis::kPp, "pp"}}};

// How layers are dealt to the pp*vpp stages.
struct PipelineSplit {
  bool count_embedding = false;  // the embedding takes a layer's place on the first stage
  bool count_loss = false;       // head and loss take a layer's place on the last stage
  // Layers of each stage in model order (pp*vpp numbers; 0 allowed where embedding or loss stands
  // alone); empty: dealt evenly.
  std::vector<std::int64_t> layers_per_stage;
  bool operator==(const PipelineSplit&) const = default;
};

struct Layout {
  std::int64_t tp = 1;
  bool sp = false;  // sequence parallelism of the tensor-parallel group (Megatron's)
  std::int64_t cp = 1;
  CpMethod cp_method = CpMethod::kP2pRing;
  std::int64_t cp_inner =
      0;  // a2a+p2p: size of the inner all-to-all group; 0: as large as heads allow
  std::int64_t pp = 1;
  std::int64_t vpp = 1;  // model chunks a pipeline rank holds
  Schedule schedule = Schedule::k1f1b;
  PipelineSplit split;
  std::int64_t ep = 1;
  std::int64_t etp = 1;
  std::int64_t dp = 0;  // 0: what is left of the world
  Zero zero = Zero::kNone;
  std::int64_t zero_group = 0;        // ranks a shard is spread over; 0: all of dp (and cp)
  bool reshard_after_forward = true;  // ZeRO-3 frees gathered parameters between passes
  std::int64_t mbs = 1;
  RecomputePolicy recompute;
  bool activation_offload = false;
  Precision precision = Precision::kBf16;
  Storage parameters = Storage::kBf16;
  Storage gradients = Storage::kFp32;
  Optimizer optimizer;
  AttentionKernel attention = AttentionKernel::kFlash;
  LossKernel loss = LossKernel::kPlain;
  Launch launch = Launch::kEager;
  Dispatcher dispatcher = Dispatcher::kAllToAll;
  std::vector<Overlap> overlap;  // sorted, without repeats
  std::array<Axis, 5> order{Axis::kTp, Axis::kCp, Axis::kEp, Axis::kDp, Axis::kPp};

  [[nodiscard]] bool overlaps(Overlap what) const;
  [[nodiscard]] std::int64_t stages() const { return saturating_product({pp, vpp}); }
  bool operator==(const Layout&) const = default;
};

}  // namespace sextant::describe
