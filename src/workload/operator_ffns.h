// The forward of the feed-forward parts on one rank, announced to a sink (operator_calls.h).
//
// Routing is taken as balanced: every expert gets the same share of the tokens. A rank routes its
// own tokens and runs experts/ep experts, cut in width by etp, on what the ep·etp group sends it.
#pragma once

#include "workload/operator_mixers.h"

namespace sextant::workload {

struct FfnSizes {
  Part fc1 = Part::kFc1;
  Part activation = Part::kFfnActivation;
  Part fc2 = Part::kFc2;
  std::int64_t width = 0;  // on this rank
  bool gated = true;
  bool bias = false;
};

template <class Sink>
void walk_activation(const Walk<Sink>& at, Part part, double rows, std::int64_t width, bool gated) {
  const StreamTable& streams = *at.options.streams;
  const StreamCost& plain = at.options.spelled_gelu ? streams.spelled_gelu : streams.activation;
  at.sink.stream({.part = part,
                  .kind = OpKind::kActivation,
                  .rows = rows,
                  .width = width,
                  .cost = gated ? streams.gate : plain});
}

// Two products on all of the rank's tokens, an activation between them.
template <class Sink>
void walk_dense(const Walk<Sink>& at, const FfnSizes& ffn) {
  const std::int64_t tokens = at.shard.tokens;
  const std::int64_t h = at.model.hidden;
  const bool adapted = ffn.fc1 == Part::kFc1;
  Gemm up{.part = ffn.fc1,
          .m = tokens,
          .n = ffn.gated ? 2 * ffn.width : ffn.width,
          .k = h,
          .bias = ffn.bias};
  if (adapted) {
    walk_adapter(at, describe::LoraModule::kFc1, up);
  }
  if (ffn.gated && !at.options.fused_projections) {
    up.n = ffn.width;
    at.sink.gemm(up);
    at.sink.gemm(up);
    walk_shared_input(at, ffn.fc1, 2);
  } else {
    at.sink.gemm(up);
    walk_shared_input(at, ffn.fc1, 1);
  }
  walk_activation(at, ffn.activation, static_cast<double>(tokens), ffn.width, ffn.gated);
  const Gemm down{.part = ffn.fc2, .m = tokens, .n = h, .k = ffn.width, .bias = ffn.bias};
  at.sink.gemm(down);
  if (adapted) {
    walk_adapter(at, describe::LoraModule::kFc2, down);
  }
}

template <class Sink>
void walk_ffn(const Walk<Sink>& at, const describe::DenseFfn& ffn) {
  walk_dense(at,
             {.width = divided_up(ffn.width, at.shard.tp), .gated = ffn.gated, .bias = ffn.bias});
}

// Tokens on their way to the experts, copied topk times.
struct RoutedRows {
  double sent = 0.0;      // by this rank, copied before (0: the dispatcher's kernels do it)
  double received = 0.0;  // by its experts, all of them together
  double resorted = 0.0;  // of those, put into expert order after they have arrived
};

// Ranks of a tensor-parallel group hold disjoint tokens (sp), or the same ones of which each is
// taken to send its share; an expert cut etp ways sees the tokens of all etp ranks.
inline RoutedRows routed_rows(const Shard& shard, const WalkOptions& options,
                              const describe::MoeFfn& moe) {
  const double sent = static_cast<double>(moe.topk) * static_cast<double>(shard.tokens) /
                      static_cast<double>(shard.tp);
  const double received = sent * static_cast<double>(shard.etp);
  const bool alone = shard.ep == 1 && shard.etp == 1;
  switch (options.dispatcher) {
    case describe::Dispatcher::kAllToAll:
      // Rows arrive sorted by sender; a rank with one expert need not sort again.
      return {sent, received, alone || moe.experts <= shard.ep ? 0.0 : received};
    case describe::Dispatcher::kAllGather:
    case describe::Dispatcher::kDeepEp:
      return {alone ? sent : 0.0, received, alone ? 0.0 : received};
  }
  return {sent, received, 0.0};
}

// Copies of tokens into expert order, or back and summed up over topk.
// `merged` is what is left of a row: 1, or 1/topk.
template <class Sink>
void walk_permutes(const Walk<Sink>& at, Part part, const RoutedRows& rows, std::int64_t width,
                   double merged) {
  Stream move{
      .part = part,
      .kind = OpKind::kPermute,
      .rows = rows.sent,
      .width = width,
      .cost = {.read = 1.0, .written = merged, .backward_read = merged, .backward_written = 1.0}};
  at.sink.stream(move);
  move.rows = rows.resorted;
  move.cost = {.read = 1.0, .written = 1.0, .backward_read = 1.0, .backward_written = 1.0};
  at.sink.stream(move);
}

// The bias of experts' second product, where it is added behind it.
template <class Sink>
void walk_expert_bias(const Walk<Sink>& at, double rows, std::int64_t width, std::int64_t experts) {
  const StreamTable& streams = *at.options.streams;
  Stream add{.part = Part::kExpertFc2,
             .kind = OpKind::kResidual,
             .rows = rows,
             .width = width,
             .cost = streams.expert_bias};
  add.cost.kernels += streams.each_expert * static_cast<double>(experts);
  add.cost.backward_kernels += streams.each_expert_backward * static_cast<double>(experts);
  at.sink.stream(add);
}

template <class Sink>
void walk_experts(const Walk<Sink>& at, const describe::MoeFfn& moe, const RoutedRows& rows,
                  std::int64_t input) {
  const std::int64_t experts = divided_up(moe.experts, at.shard.ep);
  const std::int64_t width = divided_up(moe.width, at.shard.etp);
  const double mean = rows.received / static_cast<double>(experts);
  at.sink.grouped_gemm({.part = Part::kExpertFc1,
                        .experts = experts,
                        .m = mean,
                        .n = moe.gated ? 2 * width : width,
                        .k = input,
                        .bias = moe.expert_bias});
  walk_activation(at, Part::kExpertActivation, rows.received, width, moe.gated);
  at.sink.grouped_gemm({.part = Part::kExpertFc2,
                        .experts = experts,
                        .m = mean,
                        .n = input,
                        .k = width,
                        .bias = moe.expert_bias});
  if (moe.expert_bias) {
    walk_expert_bias(at, rows.received, input, experts);
  }
}

// The router multiplies in the activations' format and writes fp32 logits, then scores and the
// choice of topk. Source: Megatron-LM, core/transformer/moe/moe_utils.py,
// RouterGatingLinearFunction (16-bit operands, router_dtype is that of the result).
template <class Sink>
void walk_router(const Walk<Sink>& at, const describe::MoeFfn& moe) {
  at.sink.gemm({.part = Part::kRouter,
                .m = at.shard.region_tokens,
                .n = moe.experts,
                .k = at.model.hidden,
                .format = ProductFormat::kActivation,
                .bias = moe.router_bias,
                .model_share = own_share(at.shard)});
  at.sink.stream(
      {.part = Part::kRouter,
       .kind = OpKind::kRoute,
       .rows = static_cast<double>(at.shard.region_tokens),
       .width = moe.experts,
       .cost = {.read = 2.0, .written = 1.0, .backward_read = 2.0, .backward_written = 1.0},
       .element_bytes = 4.0});
}

template <class Sink>
void walk_shared_experts(const Walk<Sink>& at, const describe::MoeFfn& moe) {
  const Shard& shard = at.shard;
  walk_dense(at, {.fc1 = Part::kSharedFc1,
                  .activation = Part::kSharedActivation,
                  .fc2 = Part::kSharedFc2,
                  .width = divided_up(moe.shared_width, shard.tp),
                  .gated = moe.gated,
                  .bias = false});
  const auto rows = static_cast<double>(shard.region_tokens);
  if (moe.shared_gate) {
    at.sink.gemm({.part = Part::kSharedFc2,
                  .m = shard.region_tokens,
                  .n = 1,
                  .k = at.model.hidden,
                  .format = ProductFormat::kActivation,
                  .model_share = own_share(shard)});
  }
  // Added to the routed experts' output, gated on the way where there is a gate.
  at.sink.stream(
      {.part = Part::kSharedFc2,
       .kind = OpKind::kResidual,
       .rows = rows,
       .width = at.model.hidden,
       .cost = {.read = 2.0, .written = 1.0, .backward_read = 2.0, .backward_written = 1.0}});
}

template <class Sink>
void walk_ffn(const Walk<Sink>& at, const describe::MoeFfn& moe) {
  const Shard& shard = at.shard;
  const std::int64_t h = at.model.hidden;
  const std::int64_t latent = moe.latent_width;
  const std::int64_t input = latent > 0 ? latent : h;
  const RoutedRows rows = routed_rows(shard, at.options, moe);
  walk_router(at, moe);
  Gemm project{.part = Part::kLatent,
               .m = shard.region_tokens,
               .n = latent,
               .k = h,
               .model_share = own_share(shard)};
  if (latent > 0) {
    at.sink.gemm(project);
  }
  walk_permutes(at, Part::kDispatch, rows, input, 1.0);
  walk_experts(at, moe, rows, input);
  walk_permutes(at, Part::kCombine, rows, input, 1.0 / static_cast<double>(moe.topk));
  if (latent > 0) {
    project.n = h;
    project.k = latent;
    at.sink.gemm(project);
  }
  if (moe.shared_width > 0) {
    walk_shared_experts(at, moe);
  }
}

}  // namespace sextant::workload
