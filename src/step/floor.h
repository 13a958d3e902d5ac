// The least that a step can take, whatever its pipeline, its sharding and the order of its ranks:
// what a search leaves whole families of layouts out by.
//
// A microbatch passes through every layer on some rank. The slowest of pp ranks takes at least its
// share, so a step takes at least
//
//   microbatches / pp · time of a microbatch through all layers, as if on one stage
//
// and microbatches / pp = sequences · tp · cp / (devices · micro-batch), which no pp changes.
// Stages apart take no less than all of them as one: what is hidden there hides at least as much
// here, and waits for the host are the longest of sums instead of sums of the longest. Devices are
// uneven in proportion to compute, which on every rank is at least `compute_share` of its time.
// A stage takes at least what its layers take on their device one by one: `blocks`. Hidden messages
// slow compute by a part of their own length: what hides less takes no less, so floors are of what
// hides most, with what that slows.
#pragma once

#include <limits>
#include <vector>

#include "step/layout_parts.h"

namespace sextant::step {

// Of a microbatch.
struct PassFloor {
  Seconds forward;
  Seconds backward;
  [[nodiscard]] Seconds both() const { return forward + backward; }
};

struct StepFloor {
  Seconds microbatch;             // through all layers, embedding and head
  Seconds compute;                // of it
  double compute_share = 0.0;     // of any rank's time
  std::vector<PassFloor> blocks;  // a layer of each of Model::blocks, on its device
  PassFloor embedding;
  PassFloor head;  // and the layers that predict further tokens

  // Below both. REQUIRES: the same model's.
  void lower_to(const StepFloor& other);
  // Of a step with so many microbatches for each pipeline rank.
  [[nodiscard]] Seconds step(double microbatches, const describe::StepFacts& facts) const {
    return facts.loop.value +
           microbatch * (microbatches * (1.0 + compute_share * facts.uneven.value));
  }
};

// Keeps scratch space: one a thread. The model must outlive it.
class StepFloors {
 public:
  StepFloors(const describe::Job& job, const StepModel& model, const PartOptions& options = {})
      : parts_(job, model, options), job_(job), model_(model), index_(job.model) {}

  // Of all layouts that do the same for a microbatch, or hide less. A policy that counts the layers
  // of a stage has no floor of its own. `alone`: messages of data parallelism may lie inside the
  // passes, so that compute has no least share.
  // REQUIRES: pp and vpp are 1; every rank of the others holds a layer. Messages of data
  // parallelism are left out. Where a microbatch takes `enough` or longer, it is all that is
  // worked out.
  void fill(const describe::Layout& layout, bool alone, Seconds enough, StepFloor& floor);
  static constexpr Seconds kNever{std::numeric_limits<double>::infinity()};
  // Computing alone, nothing hidden, waited for or sent. REQUIRES: as above.
  Seconds compute(const describe::Layout& layout);

 private:
  PassFloor see(const workload::Stage& stage, bool alone, double& share);
  // Of the layers, what hidden messages slow at least.
  PassFloor add_parts(bool alone, StepFloor& floor);

  LayoutParts parts_;
  describe::Job job_;
  const StepModel& model_;
  workload::LayerIndex index_;
  workload::Stage stage_;
  PassFloor slowed_;  // of what was seen last
};

}  // namespace sextant::step
