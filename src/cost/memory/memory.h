// How much memory each pipeline rank needs, and for what, at the moments that matter.
//
// The same code serves an answer to a person and a search: MemoryModel::rank() fills arrays of
// named items without allocating; why() notes what each was computed from as well (record.h). The
// peak of a rank is its fullest moment:
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

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "cost/memory/rank_memory.h"
#include "cost/memory/record.h"
#include "describe/layout/job.h"
#include "describe/memory_facts.h"
#include "workload/recompute.h"
#include "workload/saved_walk.h"
#include "workload/shard.h"
#include "workload/stages.h"
#include "workload/weights.h"

namespace sextant::cost {

// Memory of one job under any layout. Keeps scratch space: one a thread. The job must outlive it.
class MemoryModel {
 public:
  MemoryModel(const describe::Job& job, const describe::MemoryFacts& facts);

  // REQUIRES: check_rules finds nothing for the job with this layout; 0 ≤ rank < layout.pp.
  RankMemory rank(const describe::Layout& layout, std::int64_t rank);
  // What each item of that is made of.
  MemoryRecord why(const describe::Layout& layout, std::int64_t rank);
  // The fullest rank.
  RankMemory fullest(const describe::Layout& layout);
  // At least what a rank takes of its device (RankMemory::device) that holds so many layers of each
  // of Model::blocks, and of `alive` layers, counted once a microbatch in flight, the activations:
  // embedding and head apart. REQUIRES: a policy that does not count the layers of a stage.
  Bytes least_with(const describe::Layout& layout, std::span<const std::int64_t> layers,
                   std::span<const std::int64_t> alive);
  // Does every rank take at most `available` (RankMemory::device)? Stops at the first that does
  // not.
  bool fits(const describe::Layout& layout, Bytes available);

 private:
  // What a layer of each block costs under the layout at hand.
  struct BlockMemory {
    workload::Weights weights;
    double trained = 0.0;           // adapter parameters, where only those are trained
    double kept = 0.0;              // bytes a microbatch
    double selective = 0.0;         // the same under the selective policy
    double lean = 0.0;              // kept if no element-wise result is
    double working = 0.0;           // elements of tensors beside them in its backward …
    std::string_view working_what;  // … and which
  };
  // Parameters that a rank keeps something for.
  struct Counted {
    double dense = 0.0;  // of one shard
    double experts = 0.0;
    double dense_shards = 1.0;
    double expert_shards = 1.0;
  };
  // An item of so much for each of them.
  struct State {
    MemoryItem item = MemoryItem::kParameters;
    MomentSet moments = kEveryMoment;
    std::string_view what;
    std::string_view what_of_experts;
    describe::Storage format = describe::Storage::kNone;
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
  // What is a template notes what it computes, or is compiled without: a search asks millions of
  // times for numbers alone.
  template <bool kNotes>
  RankMemory prepared_rank(const describe::Layout& layout, std::int64_t rank);
  // Does the rank hold what the one before it holds, so that it can't be fuller?
  bool repeats_previous(const describe::Layout& layout, std::int64_t rank);
  template <bool kNotes>
  void add_stage(const describe::Layout& layout, std::int64_t number, RankSums& sums);
  // `held` layers of a block, `again` of which run again, each kept for `alive` microbatches.
  template <bool kNotes>
  void add_layers(const describe::Layout& layout, std::size_t block, std::int64_t held,
                  const workload::RecomputedLayers& again, double alive, RankSums& sums) const;
  template <bool kNotes>
  [[nodiscard]] RankMemory memory_of(const describe::Layout& layout, const RankSums& sums) const;
  template <bool kNotes>
  RankSums sums_of(const describe::Layout& layout, std::int64_t rank);
  // Notes a summand of the item. REQUIRES: a record is kept.
  void note(MemoryItem item, MomentSet moments, std::string_view what,
            std::initializer_list<MemoryFactor> factors, double bytes) const;
  // The product of the factors, noted as a summand of the item.
  template <bool kNotes, class... Factors>
  [[nodiscard]] double product(MemoryItem item, MomentSet moments, std::string_view what,
                               const Factors&... factors) const {
    double bytes = 1.0;
    ((bytes = factors.applied(bytes)), ...);
    if constexpr (kNotes) {
      note(item, moments, what, {MemoryFactor(factors)...}, bytes);
    }
    return bytes;
  }
  // Raises `most` to the product, which then is all that the item is at these moments.
  template <bool kNotes, class... Factors>
  void raise(double& most, MemoryItem item, MomentSet moments, std::string_view what,
             const Factors&... factors) const {
    double bytes = 1.0;
    ((bytes = factors.applied(bytes)), ...);
    if constexpr (kNotes) {
      if (bytes > most) {
        record_->forget(item, moments);
        note(item, moments, what, {MemoryFactor(factors)...}, bytes);
      }
    }
    most = bytes > most ? bytes : most;
  }
  template <bool kNotes>
  void forget(MemoryItem item, MomentSet moments) const {
    if constexpr (kNotes) {
      record_->forget(item, moments);
    }
  }
  // What layers of a block keep from forward to backward, all of it or what a selective policy
  // does.
  template <bool kNotes>
  [[nodiscard]] double kept_by_layers(std::size_t block, double alive, double layers,
                                      bool in_part) const;
  // Notes what the last summand is made of. REQUIRES (and below): a record is kept.
  void take_apart_tensors(std::size_t block, bool in_part) const;
  void take_apart_parameters(bool experts) const;
  void hold_ends() const;
  template <bool kNotes>
  [[nodiscard]] Bytes state(const State& of, const Counted& counted) const;
  template <bool kNotes>
  void add_states(const describe::Layout& layout, const RankSums& sums, RankMemory& memory) const;
  template <bool kNotes>
  void add_optimizer(const describe::Layout& layout, const Counted& trained,
                     MemoryItems& idle) const;
  template <bool kNotes>
  void add_weight_copies(const describe::Layout& layout, const RankSums& sums,
                         RankMemory& memory) const;
  template <bool kNotes>
  void add_deepspeed_buffers(const describe::Layout& layout, const RankSums& sums,
                             RankMemory& memory) const;
  template <bool kNotes>
  void add_loss(const describe::Layout& layout, const RankSums& sums, RankMemory& memory) const;
  template <bool kNotes>
  void add_sharded_buffers(const describe::Layout& layout, const RankSums& sums,
                           RankMemory& memory) const;
  template <bool kNotes>
  void offload_activations(const RankSums& sums, double& activations, double& checkpoints) const;
  template <bool kNotes>
  void add_activations(const describe::Layout& layout, const RankSums& sums,
                       RankMemory& memory) const;
  template <bool kNotes>
  void find_peak(const describe::Layout& layout, RankMemory& memory) const;
  [[nodiscard]] Bytes least_of(const describe::Layout& layout, const RankSums& sums,
                               const RankMemory& memory) const;

  const describe::Job& job_;
  describe::MemoryFacts facts_;
  double unmeasured_spread_;  // RankMemory::spread where saved tensors were not measured
  workload::LayerIndex index_;
  workload::Shard shard_;
  workload::SavedRules rules_;
  workload::Weights embedding_;
  workload::Weights head_;
  workload::Weights mtp_;
  std::vector<BlockMemory> blocks_;
  workload::Stage stage_;
  workload::PartMask selective_ = 0;   // parts that a selective policy computes again …
  bool every_second_product_ = false;  // … or it names none
  MemoryRecord* record_ = nullptr;     // where someone asks why
};

}  // namespace sextant::cost
