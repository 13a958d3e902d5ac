// What a pipeline rank holds beside its activations: states, copies of weights, logits, buffers.
#include <algorithm>

#include "base/integers.h"
#include "cost/memory/loss_copies.h"
#include "cost/memory/memory.h"
#include "cost/memory/weight_buffers.h"

namespace sextant::cost {

using describe::Framework;
using describe::Layout;
using describe::Storage;
using describe::Zero;
using workload::bytes_of;
using workload::Dialect;
using workload::Weights;

namespace {

// Does the framework keep a buffer for all gradients from the start (Megatron, DeepSpeed), or does
// each gradient come to life in the backward pass?
bool keeps_gradient_buffer(Framework framework) {
  return framework == Framework::kMegatronCore || framework == Framework::kMegatronDeepspeed ||
         framework == Framework::kDeepspeed;
}

}  // namespace

template <bool kNotes>
Bytes MemoryModel::state(const State& of, const Counted& counted) const {
  const ChosenBytes each{bytes_of(of.format), of.format};
  double bytes = product<kNotes>(of.item, of.moments, of.what,
                                 parameters(counted.dense, counted.dense_shards), each);
  if constexpr (kNotes) {
    take_apart_parameters(false);
  }
  if (counted.experts > 0.0) {
    bytes += product<kNotes>(of.item, of.moments, of.what_of_experts,
                             parameters(counted.experts, counted.expert_shards), each);
    if constexpr (kNotes) {
      take_apart_parameters(true);
    }
  }
  return Bytes(bytes);
}

// Parameters, gradients, optimizer states.
template <bool kNotes>
void MemoryModel::add_states(const Layout& layout, const RankSums& sums, RankMemory& memory) const {
  const bool forward_only = job_.workload == describe::Workload::kForward;
  const bool sharded_parameters = layout.zero == Zero::kParameters;
  const auto shards = as_double(shard_.zero_shards);
  const auto expert_shards = as_double(shard_.expert_shards);
  const Counted whole{as_double(sums.weights.dense), as_double(sums.weights.experts)};
  const Counted shard{whole.dense / shards, whole.experts / expert_shards, shards, expert_shards};
  const Counted trained = job_.lora ? Counted{sums.trained, 0.0} : whole;
  const Counted trained_shard =
      job_.lora ? Counted{sums.trained / shards, 0.0, shards, 1.0} : shard;
  MemoryItems& idle = memory.at(MemoryMoment::kIdle);
  idle[MemoryItem::kParameters] =
      state<kNotes>({.item = MemoryItem::kParameters,
                     .what = "parameters of the rank",
                     .what_of_experts = "parameters of the rank in experts",
                     .format = layout.parameters},
                    sharded_parameters ? shard : whole);
  idle[MemoryItem::kWorkspace] =
      Bytes(product<kNotes>(MemoryItem::kWorkspace, kEveryMoment, facts_.workspace.source,
                            bytes_each(facts_.workspace.value.base())));
  if (!forward_only && !layout.optimizer.offload) {
    add_optimizer<kNotes>(layout, layout.zero >= Zero::kOptimizer ? trained_shard : trained, idle);
  }
  // Gradients of earlier microbatches stay until the step.
  MomentSet alive = moment_set({MemoryMoment::kUpdate});
  if (keeps_gradient_buffer(job_.framework)) {
    alive = kEveryMoment;
  } else if (shard_.microbatches > 1) {
    alive |= kPasses;
  }
  Bytes gradients;
  if (!forward_only) {
    // FSDP keeps the sharded gradient in its parameter's own format.
    gradients =
        state<kNotes>({.item = MemoryItem::kGradients,
                       .moments = alive,
                       .what = "a gradient for each trained parameter",
                       .what_of_experts = "a gradient for each trained parameter of experts",
                       .format = sharded_parameters ? layout.parameters : layout.gradients},
                      layout.zero >= Zero::kGradients ? trained_shard : trained);
  }
  idle[MemoryItem::kGradients] = holds(alive, MemoryMoment::kIdle) ? gradients : Bytes();
  for (std::size_t i = 1; i < memory.moments.size(); ++i) {
    memory.moments[i] = idle;
    if (holds(alive, static_cast<MemoryMoment>(i))) {
      memory.moments[i][MemoryItem::kGradients] = gradients;
    }
  }
}

template <bool kNotes>
void MemoryModel::add_optimizer(const Layout& layout, const Counted& trained,
                                MemoryItems& idle) const {
  idle[MemoryItem::kMaster] =
      state<kNotes>({.item = MemoryItem::kMaster,
                     .what = "a copy of each trained parameter",
                     .what_of_experts = "a copy of each trained parameter of experts",
                     .format = layout.optimizer.master},
                    trained);
  idle[MemoryItem::kMoments] = state<kNotes>({.item = MemoryItem::kMoments,
                                              .what = "first moments",
                                              .what_of_experts = "first moments of experts",
                                              .format = layout.optimizer.first_moment},
                                             trained) +
                               state<kNotes>({.item = MemoryItem::kMoments,
                                              .what = "second moments",
                                              .what_of_experts = "second moments of experts",
                                              .format = layout.optimizer.second_moment},
                                             trained);
}

// Megatron: 8- and 4-bit products read quantised copies of the weights, row-wise and column-wise,
// made once a step; a weight whose gradient is accumulated in place still returns a placeholder of
// its shape and format, one for each distinct shape (TransformerEngine 2.11,
// module/_common.py: get_dummy_wgrad).
template <bool kNotes>
void MemoryModel::add_weight_copies(const Layout& layout, const RankSums& sums,
                                    RankMemory& memory) const {
  constexpr MemoryItem kItem = MemoryItem::kWeightCopies;
  const MemoryFactor element = bytes_each(rules_.element);
  if (rules_.autocast) {
    // Autocast multiplies with half-precision copies of the weights and keeps them for backward,
    // but for those of recomputed layers.
    constexpr MomentSet kKept = moment_set({MemoryMoment::kLoss, MemoryMoment::kBackward});
    const std::int64_t head = sums.head ? head_.dense : 0;
    const std::int64_t used = sums.weights.dense - (sums.embedding ? embedding_.dense : 0);
    double kept = product<kNotes>(kItem, kKept, "copy of the head, kept for backward",
                                  parameters(as_double(head)), element);
    if (layout.recompute.granularity != describe::Recompute::kFull) {
      kept += product<kNotes>(kItem, kKept, "copies of the layers' weights, kept for backward",
                              parameters(as_double(used - head)), element);
    }
    for (const MemoryMoment moment : {MemoryMoment::kLoss, MemoryMoment::kBackward}) {
      memory.at(moment)[kItem] = Bytes(kept);
    }
    memory.after_forward[kItem] = Bytes(kept);
    // Its cache holds the copies of all weights until the forward ends.
    memory.at(MemoryMoment::kForward)[kItem] =
        Bytes(product<kNotes>(kItem, moment_set({MemoryMoment::kForward}),
                              "copies of every weight but the embedding, in autocast's cache",
                              parameters(as_double(used)), element));
    return;
  }
  if (rules_.dialect != Dialect::kMegatron) {
    return;
  }
  Weights products = sums.weights;
  products.dense -= (sums.embedding ? embedding_.dense : 0) + (sums.head ? head_.dense : 0);
  double copies = 0.0;
  if (const int quantised = quantised_copies(job_, layout); quantised > 0) {
    copies += product<kNotes>(kItem, kEveryMoment, "quantised copies of the layers' weights",
                              parameters(as_double(products.total())),
                              ChosenBytes{bytes_of(layout.precision), layout.precision},
                              count(static_cast<double>(quantised), "copies"));
  }
  if (!job_.lora && job_.workload != describe::Workload::kForward) {
    copies += product<kNotes>(kItem, kEveryMoment,
                              "a placeholder gradient for each weight shape of a layer",
                              parameters(as_double(sums.largest_layer.dense)), element);
  }
  for (MemoryItems& at : memory.moments) {
    at[kItem] = Bytes(copies);
  }
}

// DeepSpeed beside its states: half-precision gradients next to the fp32 ones they are summed into
// (bf16), an fp32 gradient of the own partition at the step (fp16), and the bucket that gradients
// are copied into before they are reduced. Source: DeepSpeed edaa7221, runtime/bf16_optimizer.py,
// runtime/zero/stage_1_and_2.py.
template <bool kNotes>
void MemoryModel::add_deepspeed_buffers(const Layout& layout, const RankSums& sums,
                                        RankMemory& memory) const {
  const bool deepspeed =
      job_.framework == Framework::kMegatronDeepspeed || job_.framework == Framework::kDeepspeed;
  if (!deepspeed || job_.lora || job_.workload == describe::Workload::kForward) {
    return;
  }
  constexpr MemoryItem kItem = MemoryItem::kGradientBuffers;
  const double all = as_double(sums.weights.total());
  const MemoryFactor element = bytes_each(rules_.element);
  double bytes = product<kNotes>(kItem, kEveryMoment, "the bucket that gradients are reduced in",
                                 parameters(std::min(kBucketElements, all)), element);
  if (layout.gradients == Storage::kFp32) {
    bytes +=
        product<kNotes>(kItem, kEveryMoment, "a gradient of its own format beside each fp32 sum",
                        parameters(all), element);
  } else {
    constexpr double kFp32 = 4.0;
    bytes += product<kNotes>(
        kItem, kEveryMoment, "an fp32 gradient for every parameter of the own shard",
        parameters(all / as_double(shard_.zero_shards), as_double(shard_.zero_shards)),
        ChosenBytes{kFp32, Storage::kFp32});
  }
  for (MemoryItems& at : memory.moments) {
    at[MemoryItem::kGradientBuffers] = Bytes(bytes);
  }
}

// Logits, and the gradient of the head that is made from them.
template <bool kNotes>
void MemoryModel::add_loss(const Layout& layout, const RankSums& sums, RankMemory& memory) const {
  if (!sums.head) {
    return;
  }
  constexpr MomentSet kLoss = moment_set({MemoryMoment::kLoss});
  constexpr MomentSet kForward = moment_set({MemoryMoment::kForward});
  const LossCopies copies = loss_copies(layout.loss, rules_);
  const MemoryFactor tokens = count(as_double(shard_.tokens), "tokens");
  const MemoryFactor region = count(as_double(shard_.region_tokens), "tokens");
  const MemoryFactor hidden = count(as_double(job_.model.hidden), "hidden");
  const MemoryFactor vocabulary =
      count(as_double(workload::divided_up(shard_.vocab, shard_.tp)), "vocabulary entries");
  const MemoryFactor element = bytes_each(rules_.element);
  const Bytes kept(
      product<kNotes>(MemoryItem::kLogits, kLoss | kForward, "kept for the loss's backward", tokens,
                      vocabulary, ChosenBytes{copies.kept, layout.loss}) +
      product<kNotes>(MemoryItem::kLogits, kLoss | kForward, "kept by the final norm", region,
                      hidden, bytes_each(final_norm_bytes(job_.model, rules_))));
  MemoryItems& loss = memory.at(MemoryMoment::kLoss);
  MemoryItems& forward = memory.at(MemoryMoment::kForward);
  for (MemoryItems* const at : {&loss, &forward, &memory.after_forward}) {
    (*at)[MemoryItem::kLogits] = kept;
  }
  loss[MemoryItem::kLossTemporaries] =
      Bytes(product<kNotes>(MemoryItem::kLossTemporaries, kLoss, "beside those, in its backward",
                            tokens, vocabulary, ChosenBytes{copies.temporary, layout.loss}));
  forward[MemoryItem::kLossTemporaries] = Bytes(
      product<kNotes>(MemoryItem::kLossTemporaries, kForward, "beside those, while it is computed",
                      tokens, vocabulary, ChosenBytes{copies.forward, layout.loss}));
  const bool in_place = rules_.dialect == Dialect::kMegatron || rules_.dialect == Dialect::kLegacy;
  if (in_place && !job_.lora) {
    loss[MemoryItem::kGradientBuffers] += Bytes(product<kNotes>(
        MemoryItem::kGradientBuffers, kLoss, "the head's gradient before it joins the buffer",
        vocabulary, hidden, element));
  }
  if (in_place) {
    constexpr MemoryItem kItem = MemoryItem::kBackwardTemporaries;
    double bytes =
        product<kNotes>(kItem, kLoss, "gradient of the head's input", tokens, hidden, element);
    if (shard_.sp) {
      bytes += product<kNotes>(kItem, kLoss, "the head's input, gathered again", tokens, hidden,
                               element);
    }
    bytes += product<kNotes>(kItem, kLoss, "residual stream around the final norm",
                             count(2.0, "times"), region, hidden, element);
    loss[kItem] = Bytes(bytes);
  }
}

// FSDP: the root's parameters stay gathered from forward to backward. A layer in its backward has
// its gathered parameters, the buffer that the next layer's are gathered into, its gradients, and
// the fp32 input of their reduction. What the reductions and gathers of the root use is reserved on
// streams of their own, where nothing else can use it. Measured: data/measured/h200_fsdp_*.csv.
template <bool kNotes>
void MemoryModel::add_sharded_buffers(const Layout& layout, const RankSums& sums,
                                      RankMemory& memory) const {
  if (layout.zero != Zero::kParameters || shard_.zero_shards == 1) {
    return;
  }
  const double layer = fetched_parameters(job_.framework, sums.largest_layer);
  const double root =
      as_double((sums.embedding ? embedding_.dense : 0) + (sums.head ? head_.dense : 0));
  const double layers = as_double(sums.weights.total()) - root;
  const bool keeps_all = !layout.reshard_after_forward;
  const double reduced = rules_.element + bytes_of(layout.gradients);
  const bool by_matrix = fetches_by_matrix(job_.framework);
  const MemoryFactor element = bytes_each(rules_.element);
  const auto hold = [&](MemoryMoment moment, double fetched, double reducing) {
    const MomentSet set = moment_set({moment});
    MemoryItems& at = memory.at(moment);
    double bytes = product<kNotes>(MemoryItem::kGathered, set, "embedding and head",
                                   parameters(root), element);
    if (keeps_all) {
      bytes +=
          product<kNotes>(MemoryItem::kGathered, set, "all layers", parameters(layers), element);
    } else {
      bytes += product<kNotes>(MemoryItem::kGathered, set,
                               by_matrix ? "the largest matrix" : "the largest layer",
                               count(fetched, "at once"), parameters(layer), element);
    }
    at[MemoryItem::kGathered] = Bytes(bytes);
    at[MemoryItem::kGradientBuffers] += Bytes(product<kNotes>(
        MemoryItem::kGradientBuffers, set, "gradients and the input of their reduction",
        count(reducing, by_matrix ? "matrix" : "layer"), parameters(layer), bytes_each(reduced)));
  };
  hold(MemoryMoment::kForward, 1.0, 0.0);
  hold(MemoryMoment::kLoss, 0.0, 0.0);
  hold(MemoryMoment::kBackward, 2.0, 1.0);
  hold(MemoryMoment::kUpdate, 2.0, 1.0);
  memory.after_forward[MemoryItem::kGathered] =
      memory.at(MemoryMoment::kLoss)[MemoryItem::kGathered];
  if (!fetches_by_matrix(job_.framework)) {
    memory.reserved = Bytes((root + layer) * reduced);
  }
}

template void MemoryModel::add_states<true>(const Layout&, const RankSums&, RankMemory&) const;
template void MemoryModel::add_states<false>(const Layout&, const RankSums&, RankMemory&) const;
template void MemoryModel::add_weight_copies<true>(const Layout&, const RankSums&,
                                                   RankMemory&) const;
template void MemoryModel::add_weight_copies<false>(const Layout&, const RankSums&,
                                                    RankMemory&) const;
template void MemoryModel::add_deepspeed_buffers<true>(const Layout&, const RankSums&,
                                                       RankMemory&) const;
template void MemoryModel::add_deepspeed_buffers<false>(const Layout&, const RankSums&,
                                                        RankMemory&) const;
template void MemoryModel::add_loss<true>(const Layout&, const RankSums&, RankMemory&) const;
template void MemoryModel::add_loss<false>(const Layout&, const RankSums&, RankMemory&) const;
template void MemoryModel::add_sharded_buffers<true>(const Layout&, const RankSums&,
                                                     RankMemory&) const;
template void MemoryModel::add_sharded_buffers<false>(const Layout&, const RankSums&,
                                                      RankMemory&) const;

}  // namespace sextant::cost
