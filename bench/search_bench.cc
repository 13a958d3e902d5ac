// What a search pays for one layout: work, traffic and memory together, totals only.
#include <span>
#include <vector>

#include "cost/memory/memory.h"
#include "instructions.h"
#include "layout_grid.h"
#include "workload/operators.h"
#include "workload/traffic.h"

namespace sextant::bench {
namespace {

using describe::Layout;

// Scratch that a search keeps from layout to layout.
struct Scratch {
  workload::LayerIndex index;
  workload::LayoutWork work;
  std::vector<workload::Stage> stages;
};

void one_layout(const LayoutGrid& grid, const Layout& layout, Scratch& scratch,
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
  const LayoutGrid grid = layout_grid(model);
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
