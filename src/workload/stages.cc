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

std::vector<Stage> stages_of(const describe::Job& job, const Layout& layout) {
  const auto counts = describe::layers_of_stages(job.model.layer_count(), layout);
  std::vector<Stage> stages;
  if (!counts) {
    return stages;
  }
  std::int64_t layer = 0;
  for (const std::int64_t held : *counts) {
    Stage stage;
    stage.index = static_cast<std::int64_t>(stages.size());
    stage.pipeline_rank = pipeline_rank_of(stage.index, layout);
    stage.first_layer = layer;
    stage.layers = held;
    stage.blocks.assign(job.model.blocks.size(), 0);
    for (std::int64_t i = 0; i < held; ++i, ++layer) {
      const int block = job.model.layers[static_cast<std::size_t>(layer)];
      ++stage.blocks[static_cast<std::size_t>(block)];
    }
    stages.push_back(std::move(stage));
  }
  stages.front().embedding = true;
  stages.back().head = true;
  stages.back().mtp_layers = job.model.mtp_layers;
  return stages;
}

}  // namespace sextant::workload
