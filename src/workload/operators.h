// The operators of one training step on one rank: those of a microbatch on a pipeline stage, and
// those of the update once a step. docs/models/operators.md has the formulas.
//
// Two forms of the same walk: a list, to be shown, matched and timed one by one; and totals, for a
// search, without allocation. They agree by construction.
//
// Flops of an operator are what the hardware executes: flash attention computes the pairs a causal
// mask leaves (2.5 times as many backward), attention through memory the whole square, recomputed
// parts count again, padding counts. Model flops are what the model asks for: every product once a
// pass, causal attention halved, a window bounding it; nothing for recurrences and passes through
// memory, nothing for recomputation, padding or work repeated on tensor-parallel ranks.
#pragma once

#include <span>
#include <vector>

#include "base/units.h"
#include "describe/layout/job.h"
#include "workload/operator.h"
#include "workload/recompute.h"
#include "workload/shard.h"
#include "workload/stages.h"

namespace sextant::workload {

// What the operators of a pass add up to.
struct Work {
  Flops flops;
  Bytes bytes;  // read and written
  constexpr Work& operator+=(const Work& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
  friend constexpr Work operator*(const Work& work, double times) {
    return {work.flops * times, work.bytes * times};
  }
};

struct WorkTotals {
  Work forward;
  Work input_gradient;
  Work weight_gradient;
  Work recompute;
  Work update;
  Flops model;

  [[nodiscard]] constexpr Work& at(Pass pass) {
    switch (pass) {
      case Pass::kForward:
        return forward;
      case Pass::kInputGradient:
        return input_gradient;
      case Pass::kWeightGradient:
        return weight_gradient;
      case Pass::kRecompute:
        return recompute;
      case Pass::kUpdate:
        break;
    }
    return update;
  }
  constexpr WorkTotals& operator+=(const WorkTotals& other) {
    forward += other.forward;
    input_gradient += other.input_gradient;
    weight_gradient += other.weight_gradient;
    recompute += other.recompute;
    update += other.update;
    model += other.model;
    return *this;
  }
};

// One microbatch of one stage. Each product is followed by its gradients and, where the policy says
// so, its recomputation; layers alike are one operator with a count. REQUIRES: check_rules finds
// nothing for the job with this layout; stage and shard are its.
std::vector<Operator> stage_operators(const describe::Job& job, const describe::Layout& layout,
                                      const Stage& stage, const Shard& shard);
inline std::vector<Operator> stage_operators(const describe::Job& job, const Stage& stage,
                                             const Shard& shard) {
  return stage_operators(job, job.layout, stage, shard);
}

// Once a step, on the pipeline rank that holds these stages: norm of the gradients, optimizer,
// cleared gradient buffers, 8-bit copies of the weights.
std::vector<Operator> update_operators(const describe::Job& job, const describe::Layout& layout,
                                       std::span<const Stage> held, const Shard& shard);
inline std::vector<Operator> update_operators(const describe::Job& job, std::span<const Stage> held,
                                              const Shard& shard) {
  return update_operators(job, job.layout, held, shard);
}

WorkTotals totals_of(std::span<const Operator> operators);

// The same sums without the list.
WorkTotals stage_totals(const describe::Job& job, const describe::Layout& layout,
                        const Stage& stage, const Shard& shard);
WorkTotals update_totals(const describe::Job& job, const describe::Layout& layout,
                         std::span<const Stage> held, const Shard& shard);

// One layer (or one end of the model) in a microbatch. A stage is a sum of these, so a search
// walks each kind of layer once a layout.
struct LayerWork {
  WorkTotals passes;  // nothing recomputed
  Work whole;         // recomputed where the whole layer is
  Work selective;     // recomputed where the policy names parts
};

struct LayoutWork {
  std::vector<LayerWork> blocks;  // parallel to Model::blocks
  LayerWork embedding;
  LayerWork head;
  LayerWork mtp;  // one depth, around its block

  // Fills in all of it; allocates only when `blocks` is too small.
  void assign(const describe::Job& job, const describe::Layout& layout, const Shard& shard);
  [[nodiscard]] WorkTotals stage(const describe::Job& job, const describe::Layout& layout,
                                 const Stage& stage) const;
};

}  // namespace sextant::workload
