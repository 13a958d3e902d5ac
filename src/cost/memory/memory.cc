#include "cost/memory/memory.h"

#include <algorithm>
#include <cmath>

#include "base/integers.h"
#include "cost/memory/in_flight.h"
#include "describe/layout/pipeline_split.h"
#include "workload/recompute.h"

namespace sextant::cost {

using describe::Framework;
using describe::Layout;
using describe::Zero;
using workload::Dialect;
using workload::Weights;

namespace {

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

// Elements of the tensors that a layer's backward holds beside the saved ones.
struct Working {
  double elements = 0.0;
  std::string_view what;
};
Working backward_tensors(const describe::Model& model, const describe::Block& block,
                         const workload::Shard& shard) {
  const double hidden = as_double(shard.tokens) * as_double(model.hidden);
  if (const auto* dense = std::get_if<describe::DenseFfn>(&block.ffn)) {
    const double width = as_double(workload::divided_up(dense->width, shard.tp));
    return {as_double(shard.tokens) * width * (dense->gated ? 2.0 : 1.0) + hidden,
            "gradients in one layer: of the first product's output and one hidden state"};
  }
  if (const auto* moe = std::get_if<describe::MoeFfn>(&block.ffn)) {
    const double copies = workload::saved::expert_tokens(*moe, shard);
    const double width = as_double(workload::divided_up(moe->width, shard.etp));
    return {copies * (width * (moe->gated ? 2.0 : 1.0) + 2.0 * as_double(model.hidden)) + hidden,
            "gradients in one layer: for each token copy of the experts' first product and two "
            "hidden states, and one hidden state a token"};
  }
  return {2.0 * hidden, "gradients in one layer: two hidden states"};
}

}  // namespace

MemoryModel::MemoryModel(const describe::Job& job, const describe::MemoryFacts& facts)
    : job_(job),
      facts_(facts),
      unmeasured_spread_(std::hypot(facts.spread.value, 1.0 - facts.certainty.value)),
      index_(job.model),
      blocks_(job.model.blocks.size()) {
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
  selective_ = workload::recomputed_parts(layout.recompute, job_.framework);
  every_second_product_ = workload::keeps_every_second_product(layout.recompute);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const describe::Block& block = job_.model.blocks[i];
    BlockMemory& memory = blocks_[i];
    memory.weights = workload::block_weights(job_.model, block, shard_);
    memory.trained =
        job_.lora ? as_double(workload::lora_weights(job_.model, block, *job_.lora, shard_)) : 0.0;
    memory.kept = workload::saved_bytes(job_.model, block, shard_, rules_, 0);
    memory.selective = memory.kept;
    if (every_second_product_) {
      memory.selective = workload::every_second_product_bytes(job_.model, block, shard_, rules_);
    } else if (selective_ != 0) {
      memory.selective = workload::saved_bytes(job_.model, block, shard_, rules_, selective_);
    }
    memory.lean = is_measured(job_.framework, layout.zero)
                      ? memory.selective
                      : std::min(memory.selective, workload::saved_bytes(job_.model, block, shard_,
                                                                         lean_rules, kElementWise));
    const Working working = backward_tensors(job_.model, block, shard_);
    memory.working = working.elements;
    memory.working_what = working.what;
  }
}

template <bool kNotes>
double MemoryModel::kept_by_layers(std::size_t block, double alive, double layers,
                                   bool in_part) const {
  const BlockMemory& at = blocks_[block];
  const double bytes = product<kNotes>(MemoryItem::kActivations, kPasses, {},
                                       count(alive, "in flight"), count(layers, "layers"),
                                       bytes_each(in_part ? at.selective : at.kept, "a layer"));
  if constexpr (kNotes) {
    take_apart_tensors(block, in_part);
  }
  return bytes;
}

template <bool kNotes>
void MemoryModel::add_layers(const Layout& layout, std::size_t block, std::int64_t held,
                             const workload::RecomputedLayers& again, double alive,
                             RankSums& sums) const {
  const BlockMemory& at = blocks_[block];
  const double checkpoint = workload::checkpoint_bytes(job_.model, shard_, rules_);
  const std::int64_t chunk = std::max<std::int64_t>(
      layout.recompute.method == describe::RecomputeMethod::kUniform ? layout.recompute.layers : 1,
      1);
  const std::int64_t kept = held - again.full - again.selective;
  sums.weights += at.weights * held;
  if constexpr (kNotes) {
    record_->hold(record_->place(block), as_double(held), at.weights);
  }
  sums.trained += at.trained * as_double(held);
  sums.activations += kept_by_layers<kNotes>(block, alive, as_double(kept), false);
  sums.activations += kept_by_layers<kNotes>(block, alive, as_double(again.selective), true);
  sums.doubtful += alive * (as_double(kept) * std::max(at.kept - at.lean, 0.0) +
                            as_double(again.selective) * (at.selective - at.lean));
  sums.checkpoints += product<kNotes>(
      MemoryItem::kCheckpoints, kPasses, "inputs of layers that run again",
      count(alive, "in flight"), count(as_double(again.full), "layers"),
      over(as_double(chunk), "layers a checkpoint"), bytes_each(checkpoint, "an input"));
  constexpr MomentSet kBackward = moment_set({MemoryMoment::kBackward});
  if (again.selective > 0) {
    raise<kNotes>(sums.recomputed, MemoryItem::kRecomputed, kBackward,
                  "what the policy drops of one layer", bytes_each(at.kept - at.selective));
  }
  if (again.full > 0) {
    sums.recomputed_doubtful = std::max(sums.recomputed_doubtful, std::max(at.kept - at.lean, 0.0));
    raise<kNotes>(sums.recomputed, MemoryItem::kRecomputed, kBackward,
                  "all that the layers of a checkpoint keep without recomputation",
                  count(as_double(std::min(chunk, held)), "layers"),
                  bytes_each(at.kept, "a layer"));
  }
  raise<kNotes>(sums.temporary, MemoryItem::kBackwardTemporaries, kBackward, at.working_what,
                count(at.working, "elements"), bytes_each(rules_.element));
  sums.largest_layer.dense = std::max(sums.largest_layer.dense, at.weights.dense);
  sums.largest_layer.experts = std::max(sums.largest_layer.experts, at.weights.experts);
}

template <bool kNotes>
void MemoryModel::add_stage(const Layout& layout, std::int64_t number, RankSums& sums) {
  workload::fill_stage(job_, layout, index_, number, stage_);
  const double alive = as_double(in_flight(layout, shard_.microbatches, number));
  if constexpr (kNotes) {
    record_->enter_stage(number);
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (stage_.blocks[i] > 0) {
      add_layers<kNotes>(layout, i, stage_.blocks[i],
                         workload::recomputed_layers(layout.recompute, job_.model, stage_,
                                                     static_cast<std::int64_t>(i)),
                         alive, sums);
    }
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
      const auto block = static_cast<std::size_t>(job_.model.mtp_block);
      sums.activations += kept_by_layers<kNotes>(block, 1.0, as_double(stage_.mtp_layers), false);
    }
  }
  if constexpr (kNotes) {
    hold_ends();
  }
}

template <bool kNotes>
MemoryModel::RankSums MemoryModel::sums_of(const Layout& layout, std::int64_t rank) {
  RankSums sums;
  if (layout.schedule == describe::Schedule::kDualPipe) {
    add_stage<kNotes>(layout, rank, sums);
    add_stage<kNotes>(layout, layout.pp - 1 - rank, sums);
    return sums;
  }
  for (std::int64_t round = 0; round < layout.vpp; ++round) {
    const std::int64_t place = round * layout.pp + rank;
    const bool folded = workload::pipeline_rank_of(place, layout) != rank;
    add_stage<kNotes>(layout, folded ? round * layout.pp + layout.pp - 1 - rank : place, sums);
  }
  return sums;
}

// What the host does not hold: the layers in use.
template <bool kNotes>
void MemoryModel::offload_activations(const RankSums& sums, double& activations,
                                      double& checkpoints) const {
  constexpr double kHostedLayers = 2.0;  // in use and on its way back
  if (kHostedLayers * sums.temporary + sums.recomputed < activations) {
    forget<kNotes>(MemoryItem::kActivations, kPasses);
    activations = product<kNotes>(MemoryItem::kActivations, kPasses, "the others are on the host",
                                  count(kHostedLayers, "layers in use and on their way back"),
                                  bytes_each(sums.temporary, "a layer")) +
                  product<kNotes>(MemoryItem::kActivations, kPasses,
                                  "what runs again in one of them", bytes_each(sums.recomputed));
  }
  if (sums.temporary < checkpoints) {
    forget<kNotes>(MemoryItem::kCheckpoints, kPasses);
    checkpoints = product<kNotes>(MemoryItem::kCheckpoints, kPasses,
                                  "in use, the others are on the host", bytes_each(sums.temporary));
  }
}

template <bool kNotes>
void MemoryModel::add_activations(const Layout& layout, const RankSums& sums,
                                  RankMemory& memory) const {
  const bool forward_only = job_.workload == describe::Workload::kForward;
  double activations = sums.activations;
  double checkpoints = sums.checkpoints;
  if (layout.activation_offload) {
    offload_activations<kNotes>(sums, activations, checkpoints);
  }
  if (forward_only) {
    forget<kNotes>(MemoryItem::kActivations, kPasses);
    forget<kNotes>(MemoryItem::kCheckpoints, kPasses);
    activations =
        product<kNotes>(MemoryItem::kActivations, kPasses,
                        "of one layer: nothing is kept for a backward", bytes_each(sums.temporary));
    checkpoints = 0.0;
  }
  const double message =
      shard_.pp > 1
          ? product<kNotes>(MemoryItem::kMessages, kPasses, "one received, one sent",
                            count(2.0, "layers' inputs"),
                            bytes_each(workload::checkpoint_bytes(job_.model, shard_, rules_)))
          : 0.0;
  for (const MemoryMoment moment :
       {MemoryMoment::kForward, MemoryMoment::kLoss, MemoryMoment::kBackward}) {
    MemoryItems& at = memory.at(moment);
    at[MemoryItem::kActivations] = Bytes(activations);
    at[MemoryItem::kCheckpoints] = Bytes(checkpoints);
    at[MemoryItem::kMessages] = Bytes(message);
  }
  memory.after_forward[MemoryItem::kActivations] = Bytes(activations);
  memory.after_forward[MemoryItem::kCheckpoints] = Bytes(checkpoints);
  if (forward_only) {
    constexpr MomentSet kBackward = moment_set({MemoryMoment::kBackward});
    forget<kNotes>(MemoryItem::kRecomputed, kBackward);
    forget<kNotes>(MemoryItem::kBackwardTemporaries, kBackward);
    return;
  }
  memory.at(MemoryMoment::kBackward)[MemoryItem::kRecomputed] = Bytes(sums.recomputed);
  memory.at(MemoryMoment::kBackward)[MemoryItem::kBackwardTemporaries] = Bytes(sums.temporary);
}

template <bool kNotes>
void MemoryModel::find_peak(const Layout& layout, RankMemory& memory) const {
  const double rounding = facts_.rounding.value - 1.0;
  memory.after_forward[MemoryItem::kRounding] = memory.after_forward.total() * rounding;
  for (std::size_t i = 0; i < memory.moments.size(); ++i) {
    MemoryItems& at = memory.moments[i];
    const Bytes tensors = at.total();
    at[MemoryItem::kRounding] = Bytes(product<kNotes>(
        MemoryItem::kRounding, moment_set({static_cast<MemoryMoment>(i)}), facts_.rounding.source,
        bytes_each(tensors.base(), "of tensors"), share(rounding)));
    const Bytes total = tensors + at[MemoryItem::kRounding];
    if (total > memory.allocated) {
      memory.allocated = total;
      memory.fullest = static_cast<MemoryMoment>(i);
    }
  }
  const bool again = layout.recompute.granularity == describe::Recompute::kFull;
  memory.apart = memory.reserved + facts_.context.value;
  memory.reserved += memory.allocated *
                     (again ? facts_.fragmentation_recomputed.value : facts_.fragmentation.value);
  memory.device = memory.reserved + facts_.context.value;
}

Bytes MemoryModel::least_of(const Layout& layout, const RankSums& sums,
                            const RankMemory& memory) const {
  if (job_.framework == Framework::kMegatronDeepspeed && layout.zero != Zero::kParameters) {
    // By allocated and context alone, two of BLOOM's three out-of-memory rows would pass.
    return memory.device;
  }
  if (is_measured(job_.framework, layout.zero)) {
    return memory.allocated + facts_.context.value;
  }
  // What is computed again is as doubtful as what is kept; the certainty is assumed.
  const Bytes kept = memory.peak()[MemoryItem::kActivations];
  const Bytes again =
      memory.fullest == MemoryMoment::kBackward ? Bytes(sums.recomputed_doubtful) : Bytes();
  const Bytes doubtful =
      (layout.activation_offload ? Bytes() : std::min(Bytes(sums.doubtful), kept)) + again;
  return (memory.allocated - doubtful) * facts_.certainty.value + facts_.context.value;
}

template <bool kNotes>
RankMemory MemoryModel::memory_of(const Layout& layout, const RankSums& sums) const {
  RankMemory memory;
  add_states<kNotes>(layout, sums, memory);
  memory.after_forward = memory.at(MemoryMoment::kIdle);
  add_weight_copies<kNotes>(layout, sums, memory);
  add_deepspeed_buffers<kNotes>(layout, sums, memory);
  add_loss<kNotes>(layout, sums, memory);
  add_sharded_buffers<kNotes>(layout, sums, memory);
  add_activations<kNotes>(layout, sums, memory);
  find_peak<kNotes>(layout, memory);
  memory.least = least_of(layout, sums, memory);
  memory.spread =
      is_measured(job_.framework, layout.zero) ? facts_.spread.value : unmeasured_spread_;
  return memory;
}

template <bool kNotes>
RankMemory MemoryModel::prepared_rank(const Layout& layout, std::int64_t rank) {
  RankMemory memory = memory_of<kNotes>(layout, sums_of<kNotes>(layout, rank));
  memory.pipeline_rank = rank;
  return memory;
}

Bytes MemoryModel::least_with(const Layout& layout, std::span<const std::int64_t> layers,
                              std::span<const std::int64_t> alive) {
  prepare(layout);
  RankSums sums;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (layers[i] == 0) {
      continue;
    }
    const bool full = layout.recompute.granularity == describe::Recompute::kFull;
    const bool part = layout.recompute.granularity == describe::Recompute::kSelective;
    const workload::RecomputedLayers again{.full = full ? layers[i] : 0,
                                           .selective = part ? layers[i] : 0};
    add_layers<false>(layout, i, layers[i], again, as_double(alive[i]) / as_double(layers[i]),
                      sums);
  }
  return memory_of<false>(layout, sums).device;
}

RankMemory MemoryModel::rank(const Layout& layout, std::int64_t rank) {
  prepare(layout);
  return prepared_rank<false>(layout, rank);
}

MemoryRecord MemoryModel::why(const Layout& layout, std::int64_t rank) {
  MemoryRecord record;
  record_ = &record;
  prepare(layout);
  prepared_rank<true>(layout, rank);
  record_ = nullptr;
  return record;
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

bool MemoryModel::fits(const Layout& layout, Bytes available) {
  prepare(layout);
  // The first rank has most in flight, the last one the logits.
  if (prepared_rank<false>(layout, 0).device > available ||
      prepared_rank<false>(layout, layout.pp - 1).device > available) {
    return false;
  }
  for (std::int64_t rank = 1; rank < layout.pp - 1; ++rank) {
    if (!repeats_previous(layout, rank) && prepared_rank<false>(layout, rank).device > available) {
      return false;
    }
  }
  return true;
}

RankMemory MemoryModel::fullest(const Layout& layout) {
  prepare(layout);
  RankMemory fullest = prepared_rank<false>(layout, 0);
  for (std::int64_t rank = 1; rank < layout.pp; ++rank) {
    if (repeats_previous(layout, rank)) {
      continue;
    }
    const RankMemory other = prepared_rank<false>(layout, rank);
    if (other.device > fullest.device) {
      fullest = other;
    }
  }
  return fullest;
}

}  // namespace sextant::cost
