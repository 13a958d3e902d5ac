#include "workload/traffic_pattern.h"

#include <array>
#include <utility>

#include "workload/operators.h"
#include "workload/stage_traffic.h"
#include "workload/wire.h"

namespace sextant::workload {
namespace {

using describe::Job;

// The part at which a generator of messages passes this part's work (see reach() in
// layer_traffic.h and end_traffic.h).
Part passed_at(Part part) {
  constexpr std::array kPassed{
      std::pair{Part::kQkNorm, Part::kQkv},
      std::pair{Part::kRotary, Part::kQkv},
      std::pair{Part::kMlaQueryDown, Part::kQkv},
      std::pair{Part::kMlaQueryUp, Part::kQkv},
      std::pair{Part::kMlaKvDown, Part::kQkv},
      std::pair{Part::kMlaKvUp, Part::kQkv},
      std::pair{Part::kIndexer, Part::kQkv},
      std::pair{Part::kAttentionGate, Part::kCoreAttention},
      std::pair{Part::kConvolution, Part::kSsmInput},
      std::pair{Part::kGatedNorm, Part::kScan},
      std::pair{Part::kFfnActivation, Part::kFc1},
      std::pair{Part::kSharedActivation, Part::kSharedFc1},
      std::pair{Part::kSharedFc2, Part::kSharedFc1},
      std::pair{Part::kDispatch, Part::kExpertFc1},
      std::pair{Part::kLatent, Part::kExpertFc1},
      std::pair{Part::kExpertActivation, Part::kExpertFc1},
      std::pair{Part::kExpertFc2, Part::kExpertFc1},
      std::pair{Part::kCombine, Part::kExpertFc1},
  };
  for (const auto& [from, at] : kPassed) {
    if (from == part) {
      return at;
    }
  }
  return part;
}

using WorkByPart = std::array<double, kPartWords.size()>;

// Work of one layer, or of one end of the model, by pass.
struct LayerFlops {
  WorkByPart forward{};
  WorkByPart backward{};
  WorkByPart again{};
};

LayerFlops flops_of(const Job& job, const describe::Layout& layout, const Stage& stage,
                    const Shard& shard) {
  LayerFlops work;
  for (const Operator& op : stage_operators(job, layout, stage, shard)) {
    WorkByPart& pass = op.pass == Pass::kForward     ? work.forward
                       : op.pass == Pass::kRecompute ? work.again
                                                     : work.backward;
    pass[static_cast<std::size_t>(passed_at(op.part))] +=
        op.flops / 1_flop * static_cast<double>(op.count);
  }
  return work;
}

class PatternSink {
 public:
  explicit PatternSink(Pattern& pattern) : pattern_(pattern) {}

  // What is passed from here on belongs to this layer and pass.
  void start(std::int64_t layer, const WorkByPart& work) {
    layer_ = layer;
    work_ = work;
  }
  void add(const Collective& message) {
    pattern_.bursts.push_back({.phase = message.phase,
                               .what = message.what,
                               .group = message.group,
                               .layer = layer_,
                               .bytes = message.wire_bytes(),
                               .hides = message.hides,
                               .work_before = Flops(pending_)});
    pending_ = 0.0;
  }
  void reach(Part part) {
    double& work = work_[static_cast<std::size_t>(part)];
    pending_ += work;
    work = 0.0;
  }
  // Work that no message separates.
  void finish() {
    for (double& work : work_) {
      pending_ += work;
      work = 0.0;
    }
  }
  void end() { pattern_.work_after = Flops(pending_); }

 private:
  Pattern& pattern_;
  std::int64_t layer_ = -1;
  WorkByPart work_{};
  double pending_ = 0.0;
};

// A stage that holds nothing but what `keep` sets.
Stage part_of(const Stage& stage, std::int64_t layer, std::int64_t block) {
  Stage part;
  part.index = stage.index;
  part.pipeline_rank = stage.pipeline_rank;
  part.first_layer = layer;
  part.blocks.assign(stage.blocks.size(), 0);
  if (block >= 0) {
    part.layers = 1;
    part.blocks[static_cast<std::size_t>(block)] = 1;
  }
  return part;
}

class PatternBuilder {
 public:
  PatternBuilder(const Job& job, const Stage& stage, const Shard& shard, Pattern& pattern)
      : job_(job),
        stage_(stage),
        shard_(shard),
        one_(scene_of(job, job.layout, shard, kUniform)),
        every_second_(skips_layers(job.layout.recompute)),
        sink_(pattern) {
    one_.microbatches = 1;
  }

  void build() {
    forward();
    if (one_.trains) {
      backward();
    }
    sink_.end();
  }

 private:
  static inline const Routing kUniform{};

  [[nodiscard]] std::int64_t block_of(std::int64_t position) const {
    return job_.model.layers[static_cast<std::size_t>(stage_.first_layer + position)];
  }
  [[nodiscard]] const describe::Block& block(std::int64_t position) const {
    return job_.model.blocks[static_cast<std::size_t>(block_of(position))];
  }
  // A layer's work depends on its place in the stage through the policy alone: asked for by itself,
  // it is told what its place means.
  [[nodiscard]] LayerFlops layer_flops(std::int64_t position) const {
    describe::Layout layout = job_.layout;
    layout.recompute = policy_at(position);
    return flops_of(job_, layout,
                    part_of(stage_, stage_.first_layer + position, block_of(position)), shard_);
  }
  [[nodiscard]] describe::RecomputePolicy policy_at(std::int64_t position) const {
    const RecomputedLayers again = repeated(position);
    if (again.full > 0) {
      return {.granularity = describe::Recompute::kFull, .modules = {}};
    }
    describe::RecomputePolicy policy = job_.layout.recompute;
    std::erase(policy.modules, describe::RecomputeModule::kEverySecondLayer);
    if (again.selective == 0 || (every_second_ && policy.modules.empty())) {
      policy.granularity = describe::Recompute::kNone;
    }
    return policy;
  }
  [[nodiscard]] RecomputedLayers repeated(std::int64_t position) const {
    const describe::RecomputePolicy& policy = job_.layout.recompute;
    const bool whole = recomputed_whole(policy, every_second_, position);
    const bool selective = policy.granularity == describe::Recompute::kSelective && !whole;
    return {.full = whole ? 1 : 0, .selective = selective ? 1 : 0};
  }
  enum class End { kEmbedding, kHead, kMtp };
  [[nodiscard]] LayerFlops end_flops(End end) const {
    Stage part = part_of(stage_, stage_.first_layer, -1);
    part.embedding = end == End::kEmbedding;
    part.head = end == End::kHead;
    part.mtp_layers = end == End::kMtp ? stage_.mtp_layers : 0;
    return flops_of(job_, job_.layout, part, shard_);
  }

  void forward() {
    if (stage_.embedding) {
      sink_.start(-1, end_flops(End::kEmbedding).forward);
      embedding_forward(one_, 1, sink_);
      sink_.finish();
    }
    for (std::int64_t i = 0; i < stage_.layers; ++i) {
      sink_.start(stage_.first_layer + i, layer_flops(i).forward);
      layer_parameters(one_, block(i), FsdpWhen::kForward, sink_);
      layer_forward(one_, block(i), {}, sink_);
      sink_.finish();
    }
    if (stage_.head) {
      sink_.start(-1, end_flops(End::kHead).forward);
      head_forward(one_, 1, sink_);
      sink_.finish();
    }
    if (stage_.mtp_layers > 0) {
      sink_.start(-1, end_flops(End::kMtp).forward);
      predict_forward({.count = stage_.mtp_layers});
      sink_.finish();
    }
    pipeline(Phase::kForward);
  }

  void backward() {
    if (stage_.mtp_layers > 0) {
      const LayerFlops work = end_flops(End::kMtp);
      sink_.start(-1, work.again);
      predict_again();
      sink_.finish();
      sink_.start(-1, work.backward);
      head_backward(one_, stage_.mtp_layers, sink_);
      layer_backward(one_, mtp_block(), stage_.mtp_layers, sink_);
      projection_backward(one_, stage_.mtp_layers, sink_);
      embedding_backward(one_, stage_.mtp_layers, sink_);
      sink_.finish();
    }
    if (stage_.head) {
      sink_.start(-1, end_flops(End::kHead).backward);
      head_backward(one_, 1, sink_);
      sink_.finish();
    }
    for (std::int64_t i = stage_.layers; i-- > 0;) {
      const LayerFlops work = layer_flops(i);
      sink_.start(stage_.first_layer + i, work.again);
      const RecomputedLayers again = repeated(i);
      layer_parameters(one_, block(i), FsdpWhen::kBackward, sink_);
      layer_again(one_, block(i), again, sink_);
      sink_.finish();
      sink_.start(stage_.first_layer + i, work.backward);
      layer_backward(one_, block(i), 1, sink_);
      sink_.finish();
      layer_parameters(one_, block(i), FsdpWhen::kReduce, sink_);
    }
    if (stage_.embedding) {
      sink_.start(-1, end_flops(End::kEmbedding).backward);
      embedding_backward(one_, 1, sink_);
      sink_.finish();
    }
    pipeline(Phase::kBackward);
  }

  [[nodiscard]] const describe::Block& mtp_block() const {
    return job_.model.blocks[static_cast<std::size_t>(job_.model.mtp_block)];
  }
  void predict_forward(const Times& times) {
    embedding_forward(one_, times.count, sink_);
    projection_forward(one_, times.count, times.phase, sink_);
    layer_forward(one_, mtp_block(), times, sink_);
    head_forward(one_, times.count, sink_);
  }
  void predict_again() {
    const RecomputedLayers again = recomputed_mtp_layers(job_.layout.recompute, stage_.mtp_layers);
    projection_forward(one_, again.full, Phase::kRecompute, sink_);
    layer_again(one_, mtp_block(), again, sink_);
  }

  // The stage's sends of one phase.
  void pipeline(Phase phase) {
    struct Only {
      PatternSink& sink;
      Phase phase;
      void add(const Collective& message) const {
        if (message.phase == phase) {
          sink.add(message);
        }
      }
    } only{sink_, phase};
    sink_.start(-1, {});
    pipeline_messages(one_, view_of(stage_), only);
  }

  const Job& job_;
  const Stage& stage_;
  const Shard& shard_;
  Scene one_;
  bool every_second_;
  PatternSink sink_;
};

}  // namespace

Flops Pattern::work() const {
  Flops sum = work_after;
  for (const Burst& burst : bursts) {
    sum += burst.work_before;
  }
  return sum;
}

Bytes Pattern::bytes() const {
  Bytes sum;
  for (const Burst& burst : bursts) {
    sum += burst.bytes;
  }
  return sum;
}

Pattern microbatch_pattern(const Job& job, const Stage& stage, const Shard& shard) {
  Pattern pattern;
  PatternBuilder(job, stage, shard, pattern).build();
  return pattern;
}

}  // namespace sextant::workload
