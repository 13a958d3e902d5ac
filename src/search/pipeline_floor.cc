#include "search/pipeline_floor.h"

#include <algorithm>
#include <span>

namespace sextant::search {
namespace {

using describe::Schedule;

bool folds(Schedule schedule) {
  return schedule == Schedule::kZbv || schedule == Schedule::kDualPipeV;
}

bool defers_weights(Schedule schedule) {
  return folds(schedule) || schedule == Schedule::kInterleavedZeroBubble ||
         schedule == Schedule::kDualPipe;
}

// What a stage with these layers computes of a microbatch, its ends apart.
step::PassFloor layers_of(std::span<const std::int64_t> held, const step::StepFloor& floor,
                          const Again& again) {
  step::PassFloor time;
  std::int64_t layers = 0;
  for (std::size_t block = 0; block < held.size(); ++block) {
    const auto number = static_cast<double>(held[block]);
    layers += held[block];
    time.forward += floor.blocks[block].forward * number;
    time.backward += floor.blocks[block].backward * number;
  }
  const auto repeated = static_cast<double>(std::min(again.layers, layers));
  time.forward += again.each.forward * repeated;
  time.backward += again.each.backward * repeated;
  return time;
}

}  // namespace

Seconds PipelineFloor::of(const FilledPipeline& filled, const step::StepFloor& floor, double share,
                          const describe::StepFacts& facts, const Again& again) {
  const auto& [pipeline, held, microbatches] = filled;
  const auto ranks = static_cast<std::size_t>(pipeline.pp);
  const std::size_t stages = ranks * static_cast<std::size_t>(pipeline.vpp);
  const std::size_t blocks = floor.blocks.size();
  first_.assign(ranks, {});
  all_.assign(ranks, Seconds());
  for (std::size_t stage = 0; stage < stages; ++stage) {
    step::PassFloor time = layers_of(std::span(held).subspan(stage * blocks, blocks), floor, again);
    if (stage == 0) {
      time.forward += floor.embedding.forward;
      time.backward += floor.embedding.backward;
    }
    if (stage + 1 == stages) {
      time.forward += floor.head.forward;
      time.backward += floor.head.backward;
    }
    const std::size_t turn = stage % ranks;
    const bool back = folds(pipeline.schedule) && stage >= ranks;
    const std::size_t rank = back ? ranks - 1 - turn : turn;
    all_[rank] += time.both();
    if (stage < ranks) {
      first_[rank] = time;
    }
  }
  const auto times = static_cast<double>(microbatches);
  Seconds before;
  Seconds longest;
  Seconds heaviest;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    longest = std::max(longest, all_[rank] * times + before);
    heaviest = std::max(heaviest, all_[rank]);
    before += defers_weights(pipeline.schedule) ? first_[rank].forward : first_[rank].both();
  }
  return longest + heaviest * (times * share * facts.uneven.value) + facts.loop.value;
}

}  // namespace sextant::search
