#include "workload/stages.h"

#include "describe/layout/pipeline_split.h"

namespace sextant::workload {

using describe::Layout;
using describe::Schedule;

std::int64_t pipeline_rank_of(std::int64_t stage, const Layout& layout) {
  const bool folds = layout.schedule == Schedule::kZbv || layout.schedule == Schedule::kDualPipeV;
  const std::int64_t round = stage / layout.pp;
  const std::int64_t place = stage % layout.pp;
  return folds && round % 2 == 1 ? layout.pp - 1 - place : place;
}

LayerIndex::LayerIndex(const describe::Model& model)
    : stride_(model.layers.size() + 1), before_(model.blocks.size() * (model.layers.size() + 1)) {
  for (std::size_t block = 0; block < model.blocks.size(); ++block) {
    for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
      const bool held = model.layers[layer] == static_cast<int>(block);
      before_[block * stride_ + layer + 1] = before_[block * stride_ + layer] + (held ? 1 : 0);
    }
  }
}

void fill_stage(const describe::Job& job, const Layout& layout, const LayerIndex& index,
                std::int64_t number, Stage& stage) {
  const describe::LayerRange range =
      describe::layers_of_stage(job.model.layer_count(), layout, number);
  stage.index = number;
  stage.pipeline_rank = pipeline_rank_of(number, layout);
  stage.first_layer = range.first;
  stage.layers = range.count;
  stage.blocks.resize(job.model.blocks.size());
  for (std::size_t block = 0; block < stage.blocks.size(); ++block) {
    stage.blocks[block] = index.holding(block, range.first, range.count);
  }
  stage.embedding = number == 0;
  stage.head = number == layout.stages() - 1;
  stage.mtp_layers = stage.head ? job.model.mtp_layers : 0;
}

std::vector<Stage> stages_of(const describe::Job& job, const Layout& layout) {
  if (!describe::layers_of_stages(job.model.layer_count(), layout)) {
    return {};
  }
  const LayerIndex index(job.model);
  std::vector<Stage> stages(static_cast<std::size_t>(layout.stages()));
  for (std::size_t number = 0; number < stages.size(); ++number) {
    fill_stage(job, layout, index, static_cast<std::int64_t>(number), stages[number]);
  }
  return stages;
}

}  // namespace sextant::workload
