// What the stages of one layout are priced from: its sizes, its ranks, its layers' operators and
// messages, which of its stages are alike. Parts that several layouts of a job share are made once.
//
// A part is found by all that its making reads: the options and sizes that a walk over operators or
// messages is given, but for those that no walk reads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "cost/compute/layer_time.h"
#include "step/keep_limits.h"
#include "step/layer_messages.h"
#include "step/memo.h"
#include "step/pipeline_places.h"
#include "step/stage_cost.h"
#include "step/stage_plan.h"
#include "workload/groups.h"
#include "workload/traffic_scene.h"

namespace sextant::step {

struct PartOptions {
  KeepLimits keep;
  bool every_rank = false;  // price each pipeline rank by itself, wherever it lies: tests compare
};

// REQUIRES: the model outlives it.
class LayoutParts {
 public:
  LayoutParts(const describe::Job& job, const StepModel& model, const PartOptions& options = {});

  // Everything below is of this layout from here on. REQUIRES: check_rules finds nothing for the
  // job with it.
  void enter(const describe::Layout& layout);

  [[nodiscard]] const describe::Job& job() const { return job_; }
  [[nodiscard]] const describe::Layout& layout() const { return job_.layout; }
  [[nodiscard]] const workload::Shard& shard() const { return shard_; }
  [[nodiscard]] const StepModel& model() const { return model_; }
  [[nodiscard]] const StagePlan& plan() const { return *plan_; }

  // What microbatches take goes by this alone, where once_apart(): layouts that differ only in how
  // data parallelism keeps its states share it.
  struct PassKey {
    std::uint64_t plan = 0;
    std::uint64_t operators = 0;
    std::uint64_t messages = 0;
    std::uint64_t selective = 0;
    std::int64_t microbatches = 1;
    std::int64_t region_bytes = 0;
    std::int64_t layers = 0;
    describe::Launch launch = describe::Launch::kEager;
    describe::Precision precision = describe::Precision::kBf16;
    describe::Recompute granularity = describe::Recompute::kNone;
    describe::RecomputeMethod method = describe::RecomputeMethod::kUniform;
    bool skips = false;
    workload::Hides pipeline = workload::Hides::kNothing;
    bool operator==(const PassKey&) const = default;
    [[nodiscard]] std::size_t hash() const;
  };
  [[nodiscard]] const PassKey& pass_key() const { return pass_key_; }
  [[nodiscard]] bool passes_apart() const { return once_apart(scene()); }

  StageCost pass_cost(const workload::Stage& stage);
  // Of plan().ranks, each with all its stages: good until the next layout. REQUIRES:
  // passes_apart().
  const std::vector<RankOnce>& rank_onces();
  // Of plan().once[index]. REQUIRES: passes_apart().
  OnceCost once_cost(std::size_t index);
  // The same where its `passes` hold a part of it. REQUIRES: not passes_apart().
  OnceCost once_beside(std::size_t index, const StageCost& passes);
  // What pass_cost(), and what once_cost() or once_beside(), are made of.
  StageRecord pass_record(const workload::Stage& stage);
  OnceRecord once_record(std::size_t index, const workload::Stage& kind);

 private:
  // What operators depend on.
  struct OperatorKey {
    workload::Shard shard;
    workload::WalkOptions walk;
    workload::PassOptions passes;
    workload::ParameterStreams parameters;
    workload::PartMask selective = 0;
    bool operator==(const OperatorKey&) const = default;
  };
  // What messages inside layers depend on.
  struct MessageKey {
    workload::Shard shard;
    std::array<describe::Axis, 5> order{};
    std::int64_t rank = 0;
    describe::Dispatcher dispatcher = describe::Dispatcher::kAllToAll;
    describe::CpMethod cp_method = describe::CpMethod::kP2pRing;
    std::int64_t cp_inner = 0;
    describe::LossKernel loss = describe::LossKernel::kPlain;
    workload::PartMask selective = 0;
    workload::Format activation;
    workload::Hides tensor_forward = workload::Hides::kNothing;
    workload::Hides tensor_backward = workload::Hides::kNothing;
    workload::Hides expert = workload::Hides::kNothing;
    workload::Hides ring = workload::Hides::kNothing;
    workload::Hides context = workload::Hides::kNothing;
    bool operator==(const MessageKey&) const = default;
  };
  // What stages depend on.
  struct PlanProbe {
    const describe::Layout& layout;
    PipelinePlaces places;
    bool by_place = false;
    bool once_apart = true;
  };
  struct PlanKey {
    explicit PlanKey(const PlanProbe& probe);
    bool operator==(const PlanProbe& probe) const;
    std::int64_t pp;
    std::int64_t vpp;
    describe::Schedule schedule;
    describe::PipelineSplit split;
    PipelinePlaces places;
    bool by_place;
    bool once_apart;
  };
  // What terms once a step depend on, where once_apart(): where ranks lie follows from plan and
  // place.
  struct OnceKey {
    std::uint64_t plan = 0;
    std::int64_t place = 0;
    bool sp = false;
    describe::Zero zero = describe::Zero::kNone;
    describe::Precision precision = describe::Precision::kBf16;
    describe::Storage parameters = describe::Storage::kBf16;
    describe::Storage gradients = describe::Storage::kFp32;
    describe::Optimizer optimizer;
    workload::Hides reduce = workload::Hides::kNothing;
    workload::Hides gather = workload::Hides::kNothing;
    bool operator==(const OnceKey&) const = default;
  };
  // What they take in memory, about.
  struct PlanBytes {
    std::size_t operator()(const StagePlan& plan) const;
  };
  struct OperatorBytes {
    std::size_t operator()(const cost::LayerTimes& times) const;
  };
  struct OnceCount {
    std::size_t operator()(const std::vector<RankOnce>& ranks) const {
      return std::max<std::size_t>(ranks.size(), 1);
    }
  };
  struct MessageBytes {
    std::size_t operator()(const std::vector<LayerMessage>& messages) const;
  };
  using MessageMemo = Memo<MessageKey, std::vector<LayerMessage>, MessageBytes>;

  // REQUIRES: enter() was called.
  [[nodiscard]] const workload::Scene& scene() const {
    return *scene_;  // NOLINT(bugprone-unchecked-optional-access): as required
  }
  [[nodiscard]] const MessagePricer& pricer() const {
    return *pricer_;  // NOLINT(bugprone-unchecked-optional-access): as required
  }
  [[nodiscard]] StageSetting setting(const MessagePricer& pricer) {
    return {job_, scene(), model_, *operators_, *messages_, *selective_, pricer, prices_, sends_};
  }
  std::vector<RankOnce> make_onces();
  void find_plan();
  void find_operators();
  void find_all_messages(const MessagePricer& pricer);
  void fill_pass_key();
  // `selective` 0: those that do not go by it.
  MessageMemo::Found find_messages(const MessagePricer& pricer, workload::PartMask selective);
  PricedStage priced(const workload::Stage& stage);
  [[nodiscard]] MessagePricer pricer_of(const workload::Stage& stage) const;

  describe::Job job_;
  const StepModel& model_;
  workload::LayerIndex index_;
  workload::Routing even_;
  workload::Shard shard_;
  workload::RankGrid grid_;
  std::optional<workload::Scene> scene_;
  std::optional<MessagePricer> pricer_;  // of rank 0
  bool every_rank_ = false;
  PipelinePlaces places_;
  const StagePlan* plan_ = nullptr;
  const cost::LayerTimes* operators_ = nullptr;
  const std::vector<LayerMessage>* messages_ = nullptr;  // of all ranks, where they lie alike
  const std::vector<LayerMessage>* selective_ = nullptr;
  const std::vector<LayerMessage> none_;
  Sends sends_;
  PassKey pass_key_;

  MessagePrices prices_;
  Memo<PlanKey, StagePlan, PlanBytes> plans_;
  Memo<OnceKey, std::vector<RankOnce>, OnceCount> once_parts_;
  std::vector<OnceCost> once_stages_;  // scratch
  Memo<OperatorKey, cost::LayerTimes, OperatorBytes> operator_parts_;
  MessageMemo message_parts_;
};

}  // namespace sextant::step
