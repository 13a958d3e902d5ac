#include "cost/memory/memory.h"

#include <algorithm>

#include "cost/memory/in_flight.h"
#include "cost/memory/loss_copies.h"
#include "describe/layout/pipeline_split.h"
#include "workload/recompute.h"

namespace sextant::cost {

using describe::Framework;
using describe::Layout;
using describe::Precision;
using describe::Storage;
using describe::Zero;
using workload::bytes_of;
using workload::Dialect;
using workload::Weights;

namespace {

double as_double(std::int64_t count) {
  return static_cast<double>(count);
}

bool is_quantised(Precision precision) {
  return precision == Precision::kFp8 || precision == Precision::kMxfp8 ||
         precision == Precision::kNvfp4;
}

constexpr workload::PartMask kElementWise = workload::mask_of(
    {workload::Part::kInputNorm, workload::Part::kFfnNorm, workload::Part::kFfnActivation,
     workload::Part::kExpertActivation, workload::Part::kSharedActivation});

// Frameworks whose saved tensors were checked against measurements. Of others (llm-foundry,
// fms-fsdp, InternEvo, MaxText …) it is not known which element-wise results they keep.
bool is_measured(Framework framework, Zero zero) {
  return framework == Framework::kMegatronCore || framework == Framework::kAccelerate ||
         framework == Framework::kTorchtitan ||
         (framework == Framework::kMegatronDeepspeed && zero != Zero::kParameters);
}

// Does the framework keep a buffer for all gradients from the start (Megatron, DeepSpeed), or does
// each gradient come to life in the backward pass?
bool keeps_gradient_buffer(Framework framework) {
  return framework == Framework::kMegatronCore || framework == Framework::kMegatronDeepspeed ||
         framework == Framework::kDeepspeed;
}

// Elements of the tensors that a layer's backward holds beside the saved ones: the gradient of the
// first product's output and one of the hidden state, or of the expert copies.
double backward_elements(const describe::Model& model, const describe::Block& block,
                         const workload::Shard& shard) {
  const double hidden = as_double(shard.tokens) * as_double(model.hidden);
  if (const auto* dense = std::get_if<describe::DenseFfn>(&block.ffn)) {
    const double width = as_double(workload::divided_up(dense->width, shard.tp));
    return as_double(shard.tokens) * width * (dense->gated ? 2.0 : 1.0) + hidden;
  }
  if (const auto* moe = std::get_if<describe::MoeFfn>(&block.ffn)) {
    const double copies = workload::saved::expert_tokens(*moe, shard);
    const double width = as_double(workload::divided_up(moe->width, shard.etp));
    return copies * (width * (moe->gated ? 2.0 : 1.0) + 2.0 * as_double(model.hidden)) + hidden;
  }
  return 2.0 * hidden;
}

}  // namespace

MemoryModel::MemoryModel(const describe::Job& job, const describe::MemoryFacts& facts)
    : job_(job), facts_(facts), index_(job.model), blocks_(job.model.blocks.size()) {
  stage_.blocks.resize(job.model.blocks.size());
}

void MemoryModel::prepare(const Layout& layout) {
  shard_ = workload::shard_of(job_, layout);
  rules_ = workload::saved_rules(job_, layout);
  embedding_ = workload::embedding_weights(job_.model, shard_);
  head_ = workload::head_weights(job_.model, shard_);
  mtp_ = workload::mtp_weights(job_.model, shard_);
  workload::SavedRules lean_rules = rules_;
  lean_rules.dialect = Dialect::kMegatron;
  lean_rules.dropout = false;
  const workload::PartMask again = workload::recomputed_parts(layout.recompute, job_.framework);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const describe::Block& block = job_.model.blocks[i];
    BlockMemory& memory = blocks_[i];
    memory.weights = workload::block_weights(job_.model, block, shard_);
    memory.trained =
        job_.lora ? as_double(workload::lora_weights(job_.model, block, *job_.lora, shard_)) : 0.0;
    memory.kept = workload::saved_bytes(job_.model, block, shard_, rules_, 0);
    const bool products = workload::keeps_every_second_product(layout.recompute);
    memory.selective = memory.kept;
    if (products) {
      memory.selective = workload::every_second_product_bytes(job_.model, block, shard_, rules_);
    } else if (again != 0) {
      memory.selective = workload::saved_bytes(job_.model, block, shard_, rules_, again);
    }
    memory.lean = is_measured(job_.framework, layout.zero)
                      ? memory.selective
                      : std::min(memory.selective, workload::saved_bytes(job_.model, block, shard_,
                                                                         lean_rules, kElementWise));
    memory.temporary = backward_elements(job_.model, block, shard_) * rules_.element;
  }
}

void MemoryModel::add_stage(const Layout& layout, std::int64_t number, RankSums& sums) {
  workload::fill_stage(job_, layout, index_, number, stage_);
  const double alive = as_double(in_flight(layout, shard_.microbatches, number));
  const double checkpoint = workload::checkpoint_bytes(job_.model, shard_, rules_);
  const std::int64_t chunk = std::max<std::int64_t>(
      layout.recompute.method == describe::RecomputeMethod::kUniform ? layout.recompute.layers : 1,
      1);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::int64_t held = stage_.blocks[i];
    if (held == 0) {
      continue;
    }
    const BlockMemory& block = blocks_[i];
    const workload::RecomputedLayers again = workload::recomputed_layers(
        layout.recompute, job_.model, stage_, static_cast<std::int64_t>(i));
    const std::int64_t kept = held - again.full - again.selective;
    sums.weights += block.weights * held;
    sums.trained += block.trained * as_double(held);
    sums.activations +=
        alive * (as_double(kept) * block.kept + as_double(again.selective) * block.selective);
    sums.doubtful += alive * (as_double(kept) * std::max(block.kept - block.lean, 0.0) +
                              as_double(again.selective) * (block.selective - block.lean));
    sums.checkpoints += alive * as_double(again.full) / as_double(chunk) * checkpoint;
    if (again.selective > 0) {
      sums.recomputed = std::max(sums.recomputed, block.kept - block.selective);
    }
    if (again.full > 0) {
      sums.recomputed_doubtful =
          std::max(sums.recomputed_doubtful, std::max(block.kept - block.lean, 0.0));
      sums.recomputed = std::max(sums.recomputed, block.kept * as_double(std::min(chunk, held)));
    }
    sums.temporary = std::max(sums.temporary, block.temporary);
    sums.largest_layer.dense = std::max(sums.largest_layer.dense, block.weights.dense);
    sums.largest_layer.experts = std::max(sums.largest_layer.experts, block.weights.experts);
  }
  if (stage_.embedding) {
    sums.embedding = true;
    sums.weights += embedding_;
  }
  if (stage_.head) {
    sums.head = true;
    sums.weights += head_;
    sums.weights += mtp_ * stage_.mtp_layers;
    if (stage_.mtp_layers > 0) {
      const BlockMemory& block = blocks_[static_cast<std::size_t>(job_.model.mtp_block)];
      sums.activations += as_double(stage_.mtp_layers) * block.kept;
    }
  }
}

MemoryModel::RankSums MemoryModel::sums_of(const Layout& layout, std::int64_t rank) {
  RankSums sums;
  if (layout.schedule == describe::Schedule::kDualPipe) {
    add_stage(layout, rank, sums);
    add_stage(layout, layout.pp - 1 - rank, sums);
    return sums;
  }
  for (std::int64_t round = 0; round < layout.vpp; ++round) {
    const std::int64_t place = round * layout.pp + rank;
    const bool folded = workload::pipeline_rank_of(place, layout) != rank;
    add_stage(layout, folded ? round * layout.pp + layout.pp - 1 - rank : place, sums);
  }
  return sums;
}

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
  MemoryItems& idle = memory.moments[static_cast<std::size_t>(MemoryMoment::kIdle)];
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
      memory.moments[static_cast<std::size_t>(moment)][MemoryItem::kWeightCopies] =
          Bytes(kept * rules_.element);
    }
    memory.after_forward[MemoryItem::kWeightCopies] = Bytes(kept * rules_.element);
    // Its cache holds the copies of all weights until the forward ends.
    memory.moments[static_cast<std::size_t>(MemoryMoment::kForward)][MemoryItem::kWeightCopies] =
        Bytes(as_double(sums.weights.dense - embedding_.dense) * rules_.element);
    return;
  }
  if (rules_.dialect != Dialect::kMegatron) {
    return;
  }
  double copies = 0.0;
  if (is_quantised(layout.precision)) {
    // Blackwell multiplies 8-bit matrices of any orientation; before it, each has its transpose.
    // Source: TransformerEngine 2.11, utils.py (is_non_tn_fp8_gemm_supported).
    const bool any_layout = job_.cluster.device.generation.starts_with("blackwell") &&
                            layout.precision == Precision::kFp8;
    const double formats =
        (any_layout ? 1.0 : 2.0) - (layout.parameters == Storage::kFp8 ? 1.0 : 0.0);
    Weights products = sums.weights;
    products.dense -= (sums.embedding ? embedding_.dense : 0) + (sums.head ? head_.dense : 0);
    copies += as_double(products.total()) * bytes_of(layout.precision) * formats;
  }
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
// runtime/zero/stage_1_and_2.py (reduce_bucket_size 5e8 elements).
void MemoryModel::add_deepspeed_buffers(const Layout& layout, const RankSums& sums,
                                        RankMemory& memory) const {
  const bool deepspeed =
      job_.framework == Framework::kMegatronDeepspeed || job_.framework == Framework::kDeepspeed;
  if (!deepspeed || job_.lora || job_.workload == describe::Workload::kForward) {
    return;
  }
  constexpr double kBucketElements = 5e8;
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
  MemoryItems& loss = memory.moments[static_cast<std::size_t>(MemoryMoment::kLoss)];
  loss[MemoryItem::kLogits] = Bytes(logits * copies.kept + norm);
  loss[MemoryItem::kLossTemporaries] = Bytes(logits * copies.temporary);
  MemoryItems& forward = memory.moments[static_cast<std::size_t>(MemoryMoment::kForward)];
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
  // DeepSpeed and XLA fetch matrix by matrix, of which a layer has about three of the largest kind.
  const bool by_matrix = job_.framework == Framework::kDeepspeed ||
                         job_.framework == Framework::kMegatronDeepspeed ||
                         job_.framework == Framework::kMaxtext;
  const double layer = as_double(sums.largest_layer.total()) / (by_matrix ? 3.0 : 1.0);
  const double root =
      as_double((sums.embedding ? embedding_.dense : 0) + (sums.head ? head_.dense : 0));
  const double layers = as_double(sums.weights.total()) - root;
  const bool keeps_all = !layout.reshard_after_forward;
  const double reduced = gathered + bytes_of(layout.gradients);
  const auto hold = [&](MemoryMoment moment, double fetched, double reducing) {
    MemoryItems& at = memory.moments[static_cast<std::size_t>(moment)];
    at[MemoryItem::kGathered] = Bytes((root + (keeps_all ? layers : fetched)) * gathered);
    at[MemoryItem::kGradientBuffers] += Bytes(reducing * reduced);
  };
  hold(MemoryMoment::kForward, layer, 0.0);
  hold(MemoryMoment::kLoss, 0.0, 0.0);
  hold(MemoryMoment::kBackward, keeps_all ? layer : 2.0 * layer, layer);
  hold(MemoryMoment::kUpdate, 2.0 * layer, layer);
  memory.after_forward[MemoryItem::kGathered] =
      memory.at(MemoryMoment::kLoss)[MemoryItem::kGathered];
  if (!by_matrix) {
    memory.reserved = Bytes((root + layer) * reduced);
  }
}

RankMemory MemoryModel::prepared_rank(const Layout& layout, std::int64_t rank) {
  const RankSums sums = sums_of(layout, rank);
  RankMemory memory;
  memory.pipeline_rank = rank;
  add_states(layout, sums, memory);
  memory.after_forward = memory.at(MemoryMoment::kIdle);
  add_weight_copies(layout, sums, memory);
  add_deepspeed_buffers(layout, sums, memory);
  add_loss(layout, sums, memory);
  add_sharded_buffers(layout, sums, memory);
  constexpr double kHostedLayers = 2.0;  // in use and on its way back
  const double most = layout.activation_offload ? kHostedLayers * sums.temporary + sums.recomputed
                                                : sums.activations;
  const double activations = std::min(sums.activations, most);
  const double checkpoints =
      layout.activation_offload ? std::min(sums.checkpoints, sums.temporary) : sums.checkpoints;
  const double message =
      shard_.pp > 1 ? 2.0 * workload::checkpoint_bytes(job_.model, shard_, rules_) : 0.0;
  for (const MemoryMoment moment :
       {MemoryMoment::kForward, MemoryMoment::kLoss, MemoryMoment::kBackward}) {
    MemoryItems& at = memory.moments[static_cast<std::size_t>(moment)];
    at[MemoryItem::kActivations] = Bytes(activations);
    at[MemoryItem::kCheckpoints] = Bytes(checkpoints);
    at[MemoryItem::kMessages] = Bytes(message);
  }
  memory.after_forward[MemoryItem::kActivations] = Bytes(activations);
  memory.after_forward[MemoryItem::kCheckpoints] = Bytes(checkpoints);
  MemoryItems& backward = memory.moments[static_cast<std::size_t>(MemoryMoment::kBackward)];
  if (job_.workload != describe::Workload::kForward) {
    backward[MemoryItem::kRecomputed] = Bytes(sums.recomputed);
    backward[MemoryItem::kBackwardTemporaries] = Bytes(sums.temporary);
  }
  const double rounding = facts_.rounding.value - 1.0;
  memory.after_forward[MemoryItem::kRounding] = memory.after_forward.total() * rounding;
  for (std::size_t i = 0; i < memory.moments.size(); ++i) {
    MemoryItems& at = memory.moments[i];
    const Bytes tensors = at.total();
    at[MemoryItem::kRounding] = tensors * rounding;
    const Bytes total = tensors + at[MemoryItem::kRounding];
    if (total > memory.allocated) {
      memory.allocated = total;
      memory.fullest = static_cast<MemoryMoment>(i);
    }
  }
  memory.reserved += memory.allocated * facts_.fragmentation.value;
  memory.device = memory.reserved + facts_.context.value;
  // What is computed again is as doubtful as what is kept.
  const double doubtful =
      (layout.activation_offload ? 0.0 : std::min(sums.doubtful, activations)) +
      (memory.fullest == MemoryMoment::kBackward ? sums.recomputed_doubtful : 0.0);
  // Rows of frameworks that were not fitted lie within 10 % of their memory.
  constexpr double kSure = 0.9;
  if (job_.framework == Framework::kMegatronDeepspeed && layout.zero != Zero::kParameters) {
    memory.least = memory.device;  // fragmentation was fitted to its own out-of-memory reports
  } else if (is_measured(job_.framework, layout.zero)) {
    memory.least = memory.allocated + facts_.context.value;
  } else {
    memory.least = (memory.allocated - Bytes(doubtful)) * kSure + facts_.context.value;
  }
  return memory;
}

RankMemory MemoryModel::rank(const Layout& layout, std::int64_t rank) {
  prepare(layout);
  return prepared_rank(layout, rank);
}

// In every schedule but the folded ones a later rank has no more microbatches in flight.
bool MemoryModel::repeats_previous(const Layout& layout, std::int64_t rank) {
  const describe::Schedule schedule = layout.schedule;
  if (rank < 2 || rank == layout.pp - 1 || schedule == describe::Schedule::kZbv ||
      schedule == describe::Schedule::kDualPipe || schedule == describe::Schedule::kDualPipeV) {
    return false;
  }
  const bool by_place =
      layout.recompute.granularity == describe::Recompute::kFull && layout.recompute.layers > 0;
  if (by_place || workload::skips_layers(layout.recompute)) {
    return false;
  }
  const std::int64_t layers = job_.model.layer_count();
  for (std::int64_t chunk = 0; chunk < layout.vpp; ++chunk) {
    const std::int64_t stage = chunk * layout.pp + rank;
    const describe::LayerRange here = describe::layers_of_stage(layers, layout, stage);
    const describe::LayerRange before = describe::layers_of_stage(layers, layout, stage - 1);
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      if (index_.holding(block, here.first, here.count) !=
          index_.holding(block, before.first, before.count)) {
        return false;
      }
    }
  }
  return true;
}

RankMemory MemoryModel::fullest(const Layout& layout) {
  prepare(layout);
  RankMemory fullest = prepared_rank(layout, 0);
  for (std::int64_t rank = 1; rank < layout.pp; ++rank) {
    if (repeats_previous(layout, rank)) {
      continue;
    }
    const RankMemory other = prepared_rank(layout, rank);
    if (other.allocated > fullest.allocated) {
      fullest = other;
    }
  }
  return fullest;
}

}  // namespace sextant::cost
