// One kind of message that the ranks of a pipeline stage exchange in a training step.
//
// Bytes are those of one rank's buffers as the framework passes them: an all-gather reads
// `input` and writes `output` = group_size · input (padding included), a reduce-scatter the other
// way round, an all-reduce and an all-to-all as much as they read; a send-receive moves `input`.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/units.h"
#include "describe/collective.h"
#include "describe/layout/layout.h"
#include "describe/words.h"

namespace sextant::workload {

// Which ranks take part. Dense layers and expert layers divide the same ranks differently.
enum class GroupKind : std::uint8_t {
  kTp,
  kCp,
  kCpInner,  // a2a+p2p: the all-to-all part
  kCpOuter,  // a2a+p2p: the ring part
  kEp,
  kEtp,
  kTpEp,       // etp × ep: the all-gather dispatcher's
  kDp,         // replicas of a dense parameter: dp × cp
  kShard,      // of those, the ranks a shard is spread over (ZeRO, FSDP)
  kReplicate,  // of those, the copies of a shard (HSDP)
  kExpertDp,   // replicas of an expert
  kExpertShard,
  kExpertReplicate,
  kPipeline,   // neighbours in the pipeline (the ring of pp ranks)
  kEmbedding,  // first and last stage, which share a tied embedding
  kModel,      // tp × pp: one copy of the model's dense part
  kWorld,
};
inline constexpr std::array<describe::Word<GroupKind>, 17> kGroupKindWords{
    {{GroupKind::kTp, "tp"},
     {GroupKind::kCp, "cp"},
     {GroupKind::kCpInner, "cp_inner"},
     {GroupKind::kCpOuter, "cp_outer"},
     {GroupKind::kEp, "ep"},
     {GroupKind::kEtp, "etp"},
     {GroupKind::kTpEp, "tp_ep"},
     {GroupKind::kDp, "dp"},
     {GroupKind::kShard, "shard"},
     {GroupKind::kReplicate, "replicate"},
     {GroupKind::kExpertDp, "expert_dp"},
     {GroupKind::kExpertShard, "expert_shard"},
     {GroupKind::kExpertReplicate, "expert_replicate"},
     {GroupKind::kPipeline, "pp"},
     {GroupKind::kEmbedding, "embedding"},
     {GroupKind::kModel, "model"},
     {GroupKind::kWorld, "world"}}};

// When in the step.
enum class Phase : std::uint8_t {
  kForward,    // in every microbatch's forward
  kRecompute,  // in every microbatch's backward, before the gradient
  kBackward,   // in every microbatch's backward
  kGradient,   // once, after (or under) the last microbatch's backward
  kUpdate,     // once, around the optimizer step
  kGather,     // once, parameters back to their users before the next forward
};
inline constexpr std::array<describe::Word<Phase>, 6> kPhaseWords{{{Phase::kForward, "forward"},
                                                                   {Phase::kRecompute, "recompute"},
                                                                   {Phase::kBackward, "backward"},
                                                                   {Phase::kGradient, "gradient"},
                                                                   {Phase::kUpdate, "update"},
                                                                   {Phase::kGather, "gather"}}};

// What the framework can run at the same time.
enum class Hides : std::uint8_t {
  kNothing,     // on the critical path
  kGemm,        // the product that makes or uses it (tp_comm_overlap, async TP)
  kNextLayers,  // compute of other layers (FSDP prefetch, bucketed gradient reduction)
  kMicrobatch,  // compute of another microbatch (p2p overlap, DualPipe, EP overlap)
  kAttention,   // attention of the previous block (ring)
  kOptimizer,
};
inline constexpr std::array<describe::Word<Hides>, 6> kHidesWords{
    {{Hides::kNothing, "nothing"},
     {Hides::kGemm, "its product"},
     {Hides::kNextLayers, "other layers"},
     {Hides::kMicrobatch, "another microbatch"},
     {Hides::kAttention, "attention"},
     {Hides::kOptimizer, "the optimizer"}}};

struct Collective {
  std::string_view what;  // static text: "attention output", "gradients"
  describe::CollectiveOp op = describe::CollectiveOp::kAllReduce;
  GroupKind group = GroupKind::kTp;
  std::int64_t group_size = 1;
  std::string_view dtype = "bfloat16";  // bfloat16, float16, float32, float8, int8
  std::int64_t input_bytes = 0;
  std::int64_t output_bytes = 0;
  std::int64_t count = 0;  // times a step, on every rank of the stage that has the group
  Phase phase = Phase::kForward;
  Hides hides = Hides::kNothing;
  bool returns = false;    // all-to-all: what was sent comes back, along the transposed routes
  std::int64_t stage = 0;  // which of the pp·vpp stages issues it (send-receive: sends it)

  // What the `count` calls carry on one rank: the larger of input and output, which is the whole
  // tensor of a gather or a scatter.
  [[nodiscard]] Bytes payload_bytes() const;
  // Bytes that leave one rank in all `count` calls when the operation runs at the least possible
  // traffic: ring all-reduce 2(n-1)/n of the buffer, all-gather and reduce-scatter (n-1)/n of the
  // whole, all-to-all (n-1)/n of the buffer, broadcast (n-1)/n on average, a message its size.
  [[nodiscard]] Bytes wire_bytes() const;
  bool operator==(const Collective&) const = default;
};

// Is it issued by tensor parallelism (and the expert axes inside a layer) rather than by data
// parallelism? PyTorch does the first through functional collectives.
constexpr bool is_tensor_parallel(GroupKind group) {
  return group == GroupKind::kTp || group == GroupKind::kEtp;
}

}  // namespace sextant::workload
