// How much memory each pipeline rank needs, and for what, at the moments that matter.
//
// The same code serves an answer to a person and a search: MemoryModel::rank() fills arrays of
// named items without allocating, explain/ names them. The peak of a rank is its fullest moment:
//   kIdle      after the optimizer step: states alone
//   kForward   the loss has been computed: logits in several formats
//   kLoss      its backward: the last stage has its logits, every in-flight activation is alive
//   kBackward  a layer's backward runs beside the in-flight activations
//   kUpdate    all gradients exist, activations are gone
// `allocated` is what tensors take, `reserved` what the caching allocator holds for them, `device`
// what nvidia-smi shows. Formulas: docs/models/memory.md.
//
// Left out: the order in which single tensors of one layer die, host memory, CUDA graphs' private
// pools.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"
#include "describe/layout/job.h"
#include "describe/memory_facts.h"
#include "workload/recompute.h"
#include "workload/saved_walk.h"
#include "workload/shard.h"
#include "workload/stages.h"
#include "workload/weights.h"

namespace sextant::cost {

enum class MemoryItem : std::uint8_t {
  kParameters,
  kGradients,
  kMaster,
  kMoments,
  kWeightCopies,     // quantised weights, placeholders of fused gradient accumulation
  kGathered,         // parameters gathered by FSDP
  kGradientBuffers,  // gradients before they are reduced, and the reduction's buffers
  kActivations,      // kept by layers, all microbatches in flight
  kCheckpoints,      // inputs of layers that are recomputed
  kRecomputed,       // activations of the layer being recomputed
  kLogits,           // kept from the loss for its backward
  kLossTemporaries,
  kBackwardTemporaries,
  kMessages,   // pipeline messages
  kWorkspace,  // libraries
  kRounding,   // blocks of the allocator that are larger than their tensors
};
inline constexpr std::array<describe::Word<MemoryItem>, 16> kMemoryItemWords{
    {{MemoryItem::kParameters, "parameters"},
     {MemoryItem::kGradients, "gradients"},
     {MemoryItem::kMaster, "master parameters"},
     {MemoryItem::kMoments, "optimizer moments"},
     {MemoryItem::kWeightCopies, "weight copies"},
     {MemoryItem::kGathered, "gathered parameters"},
     {MemoryItem::kGradientBuffers, "gradient buffers"},
     {MemoryItem::kActivations, "activations"},
     {MemoryItem::kCheckpoints, "checkpoints"},
     {MemoryItem::kRecomputed, "recomputed activations"},
     {MemoryItem::kLogits, "logits"},
     {MemoryItem::kLossTemporaries, "loss temporaries"},
     {MemoryItem::kBackwardTemporaries, "backward temporaries"},
     {MemoryItem::kMessages, "pipeline messages"},
     {MemoryItem::kWorkspace, "workspace"},
     {MemoryItem::kRounding, "allocator rounding"}}};

enum class MemoryMoment : std::uint8_t { kIdle, kForward, kLoss, kBackward, kUpdate };
inline constexpr std::array<describe::Word<MemoryMoment>, 5> kMemoryMomentWords{
    {{MemoryMoment::kIdle, "after the optimizer step"},
     {MemoryMoment::kForward, "at the end of forward"},
     {MemoryMoment::kLoss, "in the loss's backward"},
     {MemoryMoment::kBackward, "in a layer's backward"},
     {MemoryMoment::kUpdate, "before the optimizer step"}}};

// Bytes by item.
struct MemoryItems {
  std::array<Bytes, kMemoryItemWords.size()> bytes{};
  Bytes& operator[](MemoryItem item) { return bytes[static_cast<std::size_t>(item)]; }
  Bytes operator[](MemoryItem item) const { return bytes[static_cast<std::size_t>(item)]; }
  // In four sums side by side: a search adds up millions of these.
  [[nodiscard]] Bytes total() const {
    static_assert(kMemoryItemWords.size() % 4 == 0);
    Bytes a;
    Bytes b;
    Bytes c;
    Bytes d;
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
      a += bytes[i];
      b += bytes[i + 1];
      c += bytes[i + 2];
      d += bytes[i + 3];
    }
    return (a + b) + (c + d);
  }
};

struct RankMemory {
  std::int64_t pipeline_rank = 0;
  std::array<MemoryItems, kMemoryMomentWords.size()> moments{};
  MemoryItems after_forward{};  // activations and logits kept, no temporaries
  MemoryMoment fullest = MemoryMoment::kIdle;
  Bytes allocated;  // at the fullest moment
  Bytes reserved;
  Bytes device;
  // What a rejection rests on: allocated and the context, less what is not known of a framework
  // that was not measured (which element-wise results it keeps, and MemoryFacts::certainty);
  // Megatron-DeepSpeed below ZeRO-3: `device`. The allocator gives cached blocks back before it
  // fails, so what is reserved need not fit; where `device` is more than there is, it is tight:
  // batches grown on an H200 failed between 82 % and 100 % of its memory allocated.
  Bytes least;
  [[nodiscard]] MemoryItems& at(MemoryMoment moment) {
    return moments[static_cast<std::size_t>(moment)];
  }
  [[nodiscard]] const MemoryItems& at(MemoryMoment moment) const {
    return moments[static_cast<std::size_t>(moment)];
  }
  [[nodiscard]] const MemoryItems& peak() const { return at(fullest); }
};

// Memory of one job under any layout. Keeps scratch space: one a thread. The job must outlive it.
class MemoryModel {
 public:
  MemoryModel(const describe::Job& job, const describe::MemoryFacts& facts);

  // REQUIRES: check_rules finds nothing for the job with this layout; 0 ≤ rank < layout.pp.
  RankMemory rank(const describe::Layout& layout, std::int64_t rank);
  // The fullest rank.
  RankMemory fullest(const describe::Layout& layout);
  // At least what a rank needs that holds so many layers of each of Model::blocks, and of `alive`
  // layers, counted once a microbatch in flight, the activations: embedding and head apart.
  // REQUIRES: a policy that does not count the layers of a stage.
  Bytes least_with(const describe::Layout& layout, std::span<const std::int64_t> layers,
                   std::span<const std::int64_t> alive);
  // Does every rank need at most `available` (RankMemory::least)? Stops at the first that does not.
  bool fits(const describe::Layout& layout, Bytes available);

 private:
  // What a layer of each block costs under the layout at hand.
  struct BlockMemory {
    workload::Weights weights;
    double trained = 0.0;    // adapter parameters, where only those are trained
    double kept = 0.0;       // bytes a microbatch
    double selective = 0.0;  // the same under the selective policy
    double lean = 0.0;       // kept if no element-wise result is
    double temporary = 0.0;  // in its backward
  };
  // Sums over the stages of one rank.
  struct RankSums {
    workload::Weights weights;
    double trained = 0.0;
    double activations = 0.0;
    double doubtful = 0.0;  // of those, what a framework not measured may do without
    double checkpoints = 0.0;
    double recomputed = 0.0;
    double recomputed_doubtful = 0.0;
    double temporary = 0.0;
    workload::Weights largest_layer;
    bool embedding = false;
    bool head = false;
  };

  void prepare(const describe::Layout& layout);
  RankMemory prepared_rank(const describe::Layout& layout, std::int64_t rank);
  // Does the rank hold what the one before it holds, so that it can't be fuller?
  bool repeats_previous(const describe::Layout& layout, std::int64_t rank);
  void add_stage(const describe::Layout& layout, std::int64_t number, RankSums& sums);
  // `held` layers of a block, `again` of which run again, each kept for `alive` microbatches.
  void add_layers(const describe::Layout& layout, std::size_t block, std::int64_t held,
                  const workload::RecomputedLayers& again, double alive, RankSums& sums) const;
  [[nodiscard]] RankMemory memory_of(const describe::Layout& layout, const RankSums& sums) const;
  RankSums sums_of(const describe::Layout& layout, std::int64_t rank);
  void add_states(const describe::Layout& layout, const RankSums& sums, RankMemory& memory) const;
  void add_weight_copies(const describe::Layout& layout, const RankSums& sums,
                         RankMemory& memory) const;
  void add_deepspeed_buffers(const describe::Layout& layout, const RankSums& sums,
                             RankMemory& memory) const;
  void add_loss(const describe::Layout& layout, const RankSums& sums, RankMemory& memory) const;
  void add_sharded_buffers(const describe::Layout& layout, const RankSums& sums,
                           RankMemory& memory) const;
  void add_activations(const describe::Layout& layout, const RankSums& sums,
                       RankMemory& memory) const;
  void find_peak(RankMemory& memory) const;
  [[nodiscard]] Bytes least_of(const describe::Layout& layout, const RankSums& sums,
                               const RankMemory& memory) const;

  const describe::Job& job_;
  describe::MemoryFacts facts_;
  workload::LayerIndex index_;
  workload::Shard shard_;
  workload::SavedRules rules_;
  workload::Weights embedding_;
  workload::Weights head_;
  workload::Weights mtp_;
  std::vector<BlockMemory> blocks_;
  workload::Stage stage_;
};

}  // namespace sextant::cost
