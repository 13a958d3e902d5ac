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

// Parameters, gradients, optimizer states.
void MemoryModel::add_states(const Layout& layout, const RankSums& sums, RankMemory& memory) const {
  const double whole = as_double(sums.weights.total());
  const double shard = as_double(sums.weights.dense) / as_double(shard_.zero_shards) +
                       as_double(sums.weights.experts) / as_double(shard_.expert_shards);
  const double trained = job_.lora ? sums.trained : whole;
  const double trained_shard = job_.lora ? sums.trained / as_double(shard_.zero_shards) : shard;
  const bool forward_only = job_.workload == describe::Workload::kForward;
  const bool sharded_parameters = layout.zero == Zero::kParameters;
  // FSDP keeps the sharded gradient in its parameter's own format.
  const double gradient = bytes_of(sharded_parameters ? layout.parameters : layout.gradients);
  const double gradients =
      forward_only ? 0.0 : (layout.zero >= Zero::kGradients ? trained_shard : trained) * gradient;
  double states = layout.zero >= Zero::kOptimizer ? trained_shard : trained;
  if (forward_only || layout.optimizer.offload) {
    states = 0.0;
  }
  const bool buffer = keeps_gradient_buffer(job_.framework);
  MemoryItems& idle = memory.at(MemoryMoment::kIdle);
  idle[MemoryItem::kParameters] =
      Bytes((sharded_parameters ? shard : whole) * bytes_of(layout.parameters));
  idle[MemoryItem::kGradients] = Bytes(buffer ? gradients : 0.0);
  idle[MemoryItem::kMaster] = Bytes(states * bytes_of(layout.optimizer.master));
  idle[MemoryItem::kMoments] = Bytes(states * (bytes_of(layout.optimizer.first_moment) +
                                               bytes_of(layout.optimizer.second_moment)));
  idle[MemoryItem::kWorkspace] = facts_.workspace.value;
  for (std::size_t i = 1; i < memory.moments.size(); ++i) {
    memory.moments[i] = idle;
    // Gradients of earlier microbatches stay until the step.
    const bool update = static_cast<MemoryMoment>(i) == MemoryMoment::kUpdate;
    if (update || shard_.microbatches > 1) {
      memory.moments[i][MemoryItem::kGradients] = Bytes(gradients);
    }
  }
}

// Megatron: 8- and 4-bit products read quantised copies of the weights, row-wise and column-wise,
// made once a step; a weight whose gradient is accumulated in place still returns a placeholder of
// its shape and format, one for each distinct shape (TransformerEngine 2.11,
// module/_common.py: get_dummy_wgrad).
void MemoryModel::add_weight_copies(const Layout& layout, const RankSums& sums,
                                    RankMemory& memory) const {
  if (rules_.autocast) {
    // Autocast multiplies with half-precision copies of the weights and keeps them for backward,
    // but for those of recomputed layers.
    const bool layers = layout.recompute.granularity != describe::Recompute::kFull;
    const double kept =
        as_double(head_.dense) +
        (layers ? as_double(sums.weights.dense - embedding_.dense - head_.dense) : 0.0);
    for (const MemoryMoment moment : {MemoryMoment::kLoss, MemoryMoment::kBackward}) {
      memory.at(moment)[MemoryItem::kWeightCopies] = Bytes(kept * rules_.element);
    }
    memory.after_forward[MemoryItem::kWeightCopies] = Bytes(kept * rules_.element);
    // Its cache holds the copies of all weights until the forward ends.
    memory.at(MemoryMoment::kForward)[MemoryItem::kWeightCopies] =
        Bytes(as_double(sums.weights.dense - embedding_.dense) * rules_.element);
    return;
  }
  if (rules_.dialect != Dialect::kMegatron) {
    return;
  }
  Weights products = sums.weights;
  products.dense -= (sums.embedding ? embedding_.dense : 0) + (sums.head ? head_.dense : 0);
  double copies = as_double(products.total()) * bytes_of(layout.precision) *
                  static_cast<double>(quantised_copies(job_, layout));
  if (!job_.lora && job_.workload != describe::Workload::kForward) {
    copies += as_double(sums.largest_layer.dense) * rules_.element;
  }
  for (MemoryItems& at : memory.moments) {
    at[MemoryItem::kWeightCopies] = Bytes(copies);
  }
}

// DeepSpeed beside its states: half-precision gradients next to the fp32 ones they are summed into
// (bf16), an fp32 gradient of the own partition at the step (fp16), and the bucket that gradients
// are copied into before they are reduced. Source: DeepSpeed edaa7221, runtime/bf16_optimizer.py,
// runtime/zero/stage_1_and_2.py.
void MemoryModel::add_deepspeed_buffers(const Layout& layout, const RankSums& sums,
                                        RankMemory& memory) const {
  const bool deepspeed =
      job_.framework == Framework::kMegatronDeepspeed || job_.framework == Framework::kDeepspeed;
  if (!deepspeed || job_.lora || job_.workload == describe::Workload::kForward) {
    return;
  }
  const double all = as_double(sums.weights.total());
  const double own = all / as_double(shard_.zero_shards);
  double bytes = std::min(kBucketElements, all) * rules_.element;
  if (layout.gradients == Storage::kFp32) {
    bytes += all * rules_.element;
  } else {
    bytes += own * 4.0;
  }
  for (MemoryItems& at : memory.moments) {
    at[MemoryItem::kGradientBuffers] = Bytes(bytes);
  }
}

// Logits, and the gradient of the head that is made from them.
void MemoryModel::add_loss(const Layout& layout, const RankSums& sums, RankMemory& memory) const {
  if (!sums.head) {
    return;
  }
  const double logits =
      as_double(shard_.tokens) * as_double(workload::divided_up(shard_.vocab, shard_.tp));
  const LossCopies copies = loss_copies(layout.loss, rules_);
  const double norm = as_double(shard_.region_tokens) * as_double(job_.model.hidden) *
                      final_norm_bytes(job_.model, rules_);
  MemoryItems& loss = memory.at(MemoryMoment::kLoss);
  loss[MemoryItem::kLogits] = Bytes(logits * copies.kept + norm);
  loss[MemoryItem::kLossTemporaries] = Bytes(logits * copies.temporary);
  MemoryItems& forward = memory.at(MemoryMoment::kForward);
  forward[MemoryItem::kLogits] = loss[MemoryItem::kLogits];
  forward[MemoryItem::kLossTemporaries] = Bytes(logits * copies.forward);
  memory.after_forward[MemoryItem::kLogits] = loss[MemoryItem::kLogits];
  const bool in_place = rules_.dialect == Dialect::kMegatron || rules_.dialect == Dialect::kLegacy;
  if (in_place && !job_.lora) {
    // The head's gradient is a tensor of its own before it joins the buffer.
    loss[MemoryItem::kGradientBuffers] +=
        Bytes(as_double(workload::divided_up(shard_.vocab, shard_.tp)) *
              as_double(job_.model.hidden) * rules_.element);
  }
  if (in_place) {
    // The head's input, gathered again under sequence parallelism, the gradient of it, and the
    // residual stream around the final norm.
    const double gathered = (shard_.sp ? 2.0 : 1.0) * as_double(shard_.tokens);
    loss[MemoryItem::kBackwardTemporaries] =
        Bytes((gathered + 2.0 * as_double(shard_.region_tokens)) * as_double(job_.model.hidden) *
              rules_.element);
  }
}

// FSDP: the root's parameters stay gathered from forward to backward. A layer in its backward has
// its gathered parameters, the buffer that the next layer's are gathered into, its gradients, and
// the fp32 input of their reduction. What the reductions and gathers of the root use is reserved on
// streams of their own, where nothing else can use it. Measured: data/measured/h200_fsdp_*.csv.
void MemoryModel::add_sharded_buffers(const Layout& layout, const RankSums& sums,
                                      RankMemory& memory) const {
  if (layout.zero != Zero::kParameters || shard_.zero_shards == 1) {
    return;
  }
  const double gathered = rules_.element;
  const double layer = fetched_parameters(job_.framework, sums.largest_layer);
  const double root =
      as_double((sums.embedding ? embedding_.dense : 0) + (sums.head ? head_.dense : 0));
  const double layers = as_double(sums.weights.total()) - root;
  const bool keeps_all = !layout.reshard_after_forward;
  const double reduced = gathered + bytes_of(layout.gradients);
  const auto hold = [&](MemoryMoment moment, double fetched, double reducing) {
    MemoryItems& at = memory.at(moment);
    at[MemoryItem::kGathered] = Bytes((root + (keeps_all ? layers : fetched)) * gathered);
    at[MemoryItem::kGradientBuffers] += Bytes(reducing * reduced);
  };
  hold(MemoryMoment::kForward, layer, 0.0);
  hold(MemoryMoment::kLoss, 0.0, 0.0);
  hold(MemoryMoment::kBackward, keeps_all ? layer : 2.0 * layer, layer);
  hold(MemoryMoment::kUpdate, 2.0 * layer, layer);
  memory.after_forward[MemoryItem::kGathered] =
      memory.at(MemoryMoment::kLoss)[MemoryItem::kGathered];
  if (!fetches_by_matrix(job_.framework)) {
    memory.reserved = Bytes((root + layer) * reduced);
  }
}

}  // namespace sextant::cost
