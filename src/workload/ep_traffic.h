// Expert parallelism: tokens to their experts and back.
//
//   all-to-all  each token's vector once per chosen expert, to the expert's rank; its probability
//               beside it (Megatron); over etp the tokens are gathered before the experts and the
//               results scattered after
//   all-gather  every rank of tp × ep sees all tokens, and scatters the summed results
//   DeepEP      each token once per destination rank, however many of its experts live there
// The backward pass sends the transposes: the gradient of a dispatch is a combine and back.
// Source: Megatron-LM d98e8a64, core/transformer/moe/token_dispatcher.py; torchtitan b5bcd76,
// distributed/expert_parallel.py; DeepEP README (dispatch and combine).
#pragma once

#include <string_view>

#include "workload/traffic_calls.h"

namespace sextant::workload {

// What the dispatcher of one MoE layer moves on one rank, in a microbatch.
struct DispatchBytes {
  std::int64_t sent = 0;      // dispatch: the mean rank's tokens, once per copy
  std::int64_t received = 0;  // of the busiest rank
  std::int64_t probabilities = 0;
  std::int64_t counts = 0;  // tokens for each expert, as integers
  std::int64_t map = 0;     // all-gather: which token goes where, a byte each
};

inline constexpr Format kCounts{"int64", 8};
inline constexpr Format kProbabilities{"float32", 4};

DispatchBytes dispatch_bytes(const Scene& at, const describe::MoeFfn& moe);

// Distinct ranks, of `ranks` that share `experts` evenly, that hold at least one of a token's
// `topk` experts when these are drawn uniformly; group-limited routing draws them from topk_groups
// of the groups. Mean over tokens.
double destination_ranks(const describe::MoeFfn& moe, std::int64_t ranks);

inline Call expert_call(const Scene& at, std::string_view what, std::int64_t count, Phase phase) {
  return {.what = what,
          .group = GroupKind::kEp,
          .size = at.shard.ep,
          .format = at.activation,
          .count = count,
          .phase = phase,
          .hides = at.expert};
}

inline Call over_etp(const Scene& at, Call call) {
  call.group = GroupKind::kEtp;
  call.size = at.shard.etp;
  return call;
}

inline Call over_tp_ep(const Scene& at, Call call) {
  call.group = GroupKind::kTpEp;
  call.size = capped(at.shard.etp, at.shard.ep);
  return call;
}

inline Call in_format(Call call, Format format) {
  call.format = format;
  return call;
}

template <class Sink>
void gathered_dispatch(const Scene& at, const DispatchBytes& bytes, Call call, Sink& sink) {
  constexpr Format kMap{"bool", 1};
  call = over_tp_ep(at, call);
  all_gather(sink, call, bytes.sent);
  call.what = "routing probabilities";
  all_gather(sink, in_format(call, kProbabilities), bytes.probabilities);
  call.what = "routing map";
  all_gather(sink, in_format(call, kMap), bytes.map);
}

template <class Sink>
void dispatch_forward(const Scene& at, const DispatchBytes& bytes, std::int64_t count, Phase phase,
                      Sink& sink) {
  const Call call = expert_call(at, "tokens to experts", count, phase);
  if (at.layout.dispatcher == describe::Dispatcher::kAllGather) {
    gathered_dispatch(at, bytes, call, sink);
    return;
  }
  if (at.layout.dispatcher == describe::Dispatcher::kDeepEp) {
    all_to_all(sink, over_tp_ep(at, call), bytes.sent, bytes.received);
    return;
  }
  Call counts = in_format(expert_call(at, "tokens an expert", count, phase), kCounts);
  if (at.tensor == TensorDialect::kDTensor) {
    all_to_all(sink, counts, bytes.counts, bytes.counts);
    all_to_all(sink, call, bytes.sent, bytes.received);
    return;
  }
  if (at.tensor == TensorDialect::kXla) {  // sizes are static: nobody asks for counts
    all_to_all(sink, call, bytes.sent, bytes.received);
    all_gather(sink, over_etp(at, call), bytes.received);
    return;
  }
  counts = over_tp_ep(at, counts);
  all_gather(sink, counts, bytes.counts);
  all_to_all(sink, call, bytes.sent, bytes.received);
  Call chances = in_format(call, kProbabilities);
  chances.what = "routing probabilities";
  all_to_all(sink, chances, bytes.probabilities, bytes.probabilities);
  all_gather(sink, over_etp(at, call), bytes.received);
}

template <class Sink>
void combine_forward(const Scene& at, const DispatchBytes& bytes, std::int64_t count, Phase phase,
                     Sink& sink) {
  Call call = expert_call(at, "results of experts", count, phase);
  call.returns = true;
  switch (at.layout.dispatcher) {
    case describe::Dispatcher::kAllGather:
      reduce_scatter(sink, over_tp_ep(at, call), bytes.sent);
      return;
    case describe::Dispatcher::kDeepEp:
      all_to_all(sink, over_tp_ep(at, call), bytes.received, bytes.sent);
      return;
    case describe::Dispatcher::kAllToAll:
      if (at.tensor != TensorDialect::kDTensor) {
        reduce_scatter(sink, over_etp(at, call), bytes.received);
      }
      all_to_all(sink, call, bytes.received, bytes.sent);
      return;
  }
}

template <class Sink>
void combine_backward(const Scene& at, const DispatchBytes& bytes, std::int64_t count, Sink& sink) {
  const Call call = expert_call(at, "gradients to experts", count, Phase::kBackward);
  switch (at.layout.dispatcher) {
    case describe::Dispatcher::kAllGather:
      all_gather(sink, over_tp_ep(at, call), bytes.sent);
      return;
    case describe::Dispatcher::kDeepEp:
      all_to_all(sink, over_tp_ep(at, call), bytes.sent, bytes.received);
      return;
    case describe::Dispatcher::kAllToAll:
      all_to_all(sink, call, bytes.sent, bytes.received);
      if (at.tensor != TensorDialect::kDTensor) {
        all_gather(sink, over_etp(at, call), bytes.received);
      }
      return;
  }
}

template <class Sink>
void dispatch_backward(const Scene& at, const DispatchBytes& bytes, std::int64_t count,
                       Sink& sink) {
  Call call = expert_call(at, "gradients of tokens", count, Phase::kBackward);
  call.returns = true;
  Call chances = in_format(call, kProbabilities);
  chances.what = "gradients of probabilities";
  switch (at.layout.dispatcher) {
    case describe::Dispatcher::kAllGather:
      reduce_scatter(sink, over_tp_ep(at, call), bytes.sent);
      reduce_scatter(sink, over_tp_ep(at, chances), bytes.probabilities);
      return;
    case describe::Dispatcher::kDeepEp:
      all_to_all(sink, over_tp_ep(at, call), bytes.received, bytes.sent);
      return;
    case describe::Dispatcher::kAllToAll:
      if (at.tensor == TensorDialect::kDTensor) {
        all_to_all(sink, call, bytes.received, bytes.sent);
        return;
      }
      reduce_scatter(sink, over_etp(at, call), bytes.received);
      all_to_all(sink, call, bytes.received, bytes.sent);
      if (at.tensor == TensorDialect::kMegatron) {
        all_to_all(sink, chances, bytes.probabilities, bytes.probabilities);
      }
      return;
  }
}

}  // namespace sextant::workload
