#include "step/stage_plan.h"

#include <algorithm>

#include "workload/traffic_scene.h"

namespace sextant::step {
namespace {

using describe::Layout;
using workload::Stage;

bool folds(const Layout& layout) {
  return layout.schedule == describe::Schedule::kZbv ||
         layout.schedule == describe::Schedule::kDualPipeV;
}

struct Likeness {
  PipelinePlaces places;
  bool by_place = false;  // what a stage does goes by its place in the pipeline
  bool by_turn = false;   // scalars around the update go with a rank's first stage
  std::int64_t pp = 1;

  [[nodiscard]] bool operator()(const Stage& a, const Stage& b) const {
    return a.layers == b.layers && a.blocks == b.blocks && a.embedding == b.embedding &&
           a.head == b.head && a.mtp_layers == b.mtp_layers &&
           (!by_turn || (a.index < pp) == (b.index < pp)) &&
           places.place_of(a.pipeline_rank) == places.place_of(b.pipeline_rank) &&
           (!by_place || a.index == b.index);
  }
};

// Which of `kinds` the stage is of; a new one where it is like none.
std::uint16_t kind_among(std::vector<Stage>& kinds, const Stage& stage, const Likeness& alike) {
  const auto like =
      std::ranges::find_if(kinds, [&](const Stage& other) { return alike(other, stage); });
  const auto kind = static_cast<std::uint16_t>(like - kinds.begin());
  if (like == kinds.end()) {
    kinds.push_back(stage);
  }
  return kind;
}

}  // namespace

StagePlan stage_plan(const describe::Job& job, const Layout& layout,
                     const workload::LayerIndex& index, const PipelinePlaces& places,
                     bool once_apart) {
  StagePlan plan;
  // Where a folded pipeline turns, nothing is sent: no stage stands like another.
  Likeness alike{places, folds(layout) || workload::counts_layers(layout.recompute), true,
                 layout.pp};
  std::vector<StagePlan::Ranks> held(static_cast<std::size_t>(layout.pp));
  for (std::int64_t number = 0; number < layout.stages(); ++number) {
    Stage stage;
    workload::fill_stage(job, layout, index, number, stage);
    StagePlan::Ranks& rank = held[static_cast<std::size_t>(stage.pipeline_rank)];
    alike.by_turn = true;
    plan.once_of.push_back(kind_among(plan.once, stage, alike));
    rank.once.push_back(plan.once_of.back());
    alike.by_turn = !once_apart;
    plan.kind_of.push_back(kind_among(plan.kinds, stage, alike));
    rank.kinds.push_back(plan.kind_of.back());
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    const auto like = std::ranges::find_if(plan.ranks, [&](const StagePlan::Ranks& other) {
      return other.kinds == held[i].kinds && other.once == held[i].once;
    });
    plan.rank_of.push_back(static_cast<std::uint16_t>(like - plan.ranks.begin()));
    if (like == plan.ranks.end()) {
      held[i].first = static_cast<std::int64_t>(i);
      plan.ranks.push_back(held[i]);
    }
  }
  return plan;
}

}  // namespace sextant::step
