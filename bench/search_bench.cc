// What a search pays for one layout: work, traffic and memory together, totals only.
#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "cost/memory/memory.h"
#include "describe/layout/pipeline_split.h"
#include "describe/layout/rules.h"
#include "describe/model/load_model.h"
#include "instructions.h"
#include "workload/operators.h"
#include "workload/traffic.h"

namespace sextant::bench {
namespace {

using describe::Layout;

// A job on 1,024 devices and every legal layout of a grid, in random order.
struct Grid {
  describe::Job job;
  std::vector<Layout> layouts;
};

void add_layouts(Grid& grid, const Layout& axes) {
  const bool experts = describe::has_experts(grid.job.model);
  for (const std::int64_t ep : {1, 8, 32}) {
    for (const std::int64_t mbs : {1, 2, 4}) {
      for (const auto recompute : {describe::Recompute::kNone, describe::Recompute::kSelective,
                                   describe::Recompute::kFull}) {
        Layout& layout = grid.job.layout;
        layout = axes;
        layout.ep = experts ? ep : 1;
        layout.mbs = mbs;
        layout.recompute.granularity = recompute;
        const bool repeated = !experts && ep > 1;
        if (!repeated && describe::check_rules(grid.job).empty()) {
          grid.layouts.push_back(layout);
        }
      }
    }
  }
}

Grid grid_of(const char* model) {
  Grid grid;
  grid.job.model = *describe::load_model(model, describe::DataStore());
  grid.job.cluster.devices = 1024;
  grid.job.sequences.length = 8192;
  grid.job.global_batch = 1024;
  for (auto& peak : grid.job.cluster.device.peaks) {
    peak = describe::Sourced<FlopsPerSecond>{};
  }
  for (const std::int64_t tp : {1, 2, 4, 8}) {
    for (const std::int64_t pp : {1, 2, 4, 8, 16}) {
      for (const std::int64_t cp : {1, 2, 4}) {
        for (const auto zero : {describe::Zero::kNone, describe::Zero::kOptimizer}) {
          Layout layout;
          layout.tp = tp;
          layout.sp = tp > 1;
          layout.pp = pp;
          layout.cp = cp;
          layout.zero = zero;
          layout.split = describe::plausible_split(grid.job.model.layer_count(), pp);
          add_layouts(grid, layout);
        }
      }
    }
  }
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same order every time
  std::shuffle(grid.layouts.begin(), grid.layouts.end(), random);
  return grid;
}

// Scratch that a search keeps from layout to layout.
struct Scratch {
  workload::LayerIndex index;
  workload::LayoutWork work;
  std::vector<workload::Stage> stages;
};

void one_layout(const Grid& grid, const Layout& layout, Scratch& scratch,
                cost::MemoryModel& memory) {
  const workload::Shard shard = workload::shard_of(grid.job, layout);
  const auto count = static_cast<std::size_t>(layout.stages());
  if (scratch.stages.size() < count) {
    scratch.stages.resize(count);  // never smaller again: stages keep their space
  }
  const std::span<workload::Stage> stages(scratch.stages.data(), count);
  for (std::size_t i = 0; i < count; ++i) {
    workload::fill_stage(grid.job, layout, scratch.index, static_cast<std::int64_t>(i), stages[i]);
  }
  scratch.work.assign(grid.job, layout, shard);
  benchmark::DoNotOptimize(scratch.work.stage(grid.job, layout, stages.front()));
  benchmark::DoNotOptimize(scratch.work.stage(grid.job, layout, stages.back()));
  benchmark::DoNotOptimize(workload::traffic_totals(grid.job, layout, shard, stages));
  benchmark::DoNotOptimize(memory.fullest(layout));
}

void totals_of_a_layout(benchmark::State& state, const char* model) {
  const Grid grid = grid_of(model);
  cost::MemoryModel memory(
      grid.job, *describe::memory_facts(describe::DataStore(), describe::Framework::kMegatronCore));
  Scratch scratch{workload::LayerIndex(grid.job.model), {}, {}};
  state.counters["layouts"] = static_cast<double>(grid.layouts.size());
  std::size_t at = 0;
  const Instructions instructions(state);
  for (auto _ : state) {
    one_layout(grid, grid.layouts[at++ % grid.layouts.size()], scratch, memory);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(totals_of_a_layout, llama_70b, "llama-3.1-70b");
BENCHMARK_CAPTURE(totals_of_a_layout, deepseek_v3, "deepseek-v3");

}  // namespace
}  // namespace sextant::bench
