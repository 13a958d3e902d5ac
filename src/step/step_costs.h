// The terms of a step for one layout of a job after another, without lists: each kind of layer and
// of stage is priced once, and what layouts share (a layer's operators and messages, which stages
// are alike, tables of schedules) is kept from one to the next.
//
// estimate.h and search.h are both this.
#pragma once

#include <optional>
#include <vector>

#include "step/estimate.h"
#include "step/layout_parts.h"
#include "step/pipeline.h"

namespace sextant::step {

// What no layout that differs from another only in hiding less is below.
struct HidingLess {
  Seconds step;
  Seconds computing;  // StepTerms::computing
};

// Keeps scratch space: one a thread. The model must outlive it.
class StepCosts {
 public:
  StepCosts(const describe::Job& job, const StepModel& model, const PartOptions& options = {})
      : parts_(job, model, options), clock_(options.keep), passes_(options.keep.passes) {}

  // REQUIRES: check_rules finds nothing for the job with this layout.
  StepTerms terms(const describe::Layout& layout);
  // Of the layout that terms() was asked for last, in model order.
  std::vector<StageCost> stages();
  // Of that layout. What is not hidden slows no compute beside it, by a part of its own length: no
  // pass is shorter, and no pipeline. It may make another rank the slowest. What is sent once a
  // step is left out. The step ends with the rank that is through last, so it holds any rank's
  // update; which rank that is goes by what is hidden, so what is computed holds the shortest.
  [[nodiscard]] const HidingLess& hiding_less() const { return hiding_less_; }
  // Why that layout takes what it takes.
  StepRecord record();

 private:
  // One pipeline rank: its stages together.
  struct RankCost {
    Seconds forward;  // of a microbatch through all its stages
    Seconds backward;
    Seconds compute;
    Seconds slowed;  // of it, by communication
    Seconds host;    // waited for
    Seconds sent;    // messages to the stages before and after
    AxisTimes exposed;
    AxisTimes hidden;
  };
  // Which shares of messages once a step are exposed: of those that passes may hide, of the bare.
  struct BeyondShares {
    double hideable = 0.0;
    double bare = 0.0;
  };
  // A kind of stage.
  struct KindCost {
    StageCost cost;
    Seconds forward;
    Seconds backward;
  };

  // A rank of StagePlan::ranks, the first of its like.
  struct RankPasses {
    Seconds forward;  // of a microbatch through all its stages
    Seconds backward;
    Seconds begins;  // its first forward after the first rank's
    Seconds ends;    // its last backward before the first rank's
  };
  // What all microbatches take.
  struct Passes {
    std::size_t slowest = 0;  // of StagePlan::ranks
    RankCost rank;            // it
    Seconds bubble;
    Seconds between;  // messages between stages
    bool simulated = true;
    // Of any rank and stage: what a layout that hides less has at least.
    Seconds least_compute;
    Seconds mean_compute;  // of all ranks
    std::vector<RankPasses> ranks;
  };

  void price_kinds();
  Passes passes();
  const Passes& found_passes();
  void record_once(const Passes& all, StepRecord& record);
  [[nodiscard]] std::size_t slowest_ranks() const;
  [[nodiscard]] RankCost rank_cost(const StagePlan::Ranks& ranks) const;
  void add_pipeline(Passes& passes);
  void add_bounds(Passes& passes) const;
  // What ranks send, gather and update once a step.
  struct OnceTerms {
    AxisTimes exposed;
    AxisTimes hidden;
    Seconds update;
    Seconds update_wait;  // of it, for the host
    BeyondShares reduced;
    BeyondShares gathered;
  };
  // What messages once a step may hide behind.
  struct Behind {
    Seconds passes;
    Seconds end;   // of those that passes may hide, what they never do
    Seconds idle;  // of the rank, beside its passes
  };
  static BeyondShares add_beyond(const AxisTimes& all, const AxisTimes& bare, const Behind& behind,
                                 OnceTerms& terms);
  // Of a rank of a layout whose passes hold what is sent once.
  [[nodiscard]] RankOnce once_beside(const StagePlan::Ranks& ranks);
  [[nodiscard]] OnceTerms once_terms(const RankOnce& once, const RankPasses& passes,
                                     double hiding) const;
  // How much of a pass of a microbatch hides what is sent once.
  [[nodiscard]] double hiding() const;
  // Of all ranks.
  struct Updates {
    Seconds shortest;
    Seconds longest;
  };
  Updates add_once(const Passes& passes, StepTerms& terms);
  void add_ranks(Passes& passes) const;
  std::optional<PipelineSpan> pipeline_span();

  LayoutParts parts_;
  PipelineClock clock_;
  HidingLess hiding_less_;
  Seconds uneven_;  // of the last layout's terms
  std::int64_t once_rank_ = 0;
  Memo<LayoutParts::PassKey, Passes> passes_;
  Passes beside_;  // of a layout whose passes hold what is sent once
  std::vector<KindCost> kinds_;
  std::vector<schedule::StageCosts> costs_;
  std::vector<Seconds> forward_;
  std::vector<Seconds> backward_;
};

}  // namespace sextant::step
