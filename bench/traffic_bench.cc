// The search form of traffic: totals of a layout, without lists. The aim is 0.5 µs a layout.
#include <vector>

#include "instructions.h"
#include "layout_grid.h"
#include "workload/matrix.h"
#include "workload/traffic.h"

namespace sextant::bench {
namespace {

using describe::Framework;

// FSDP2 shards everything in every layout; the grid's ZeRO levels are Megatron's.
LayoutGrid framework_grid(const char* model, Framework framework) {
  LayoutGrid grid = layout_grid(model);
  grid.job.framework = framework;
  if (framework != Framework::kTorchtitan) {
    return grid;
  }
  for (describe::Layout& layout : grid.layouts) {
    layout.zero = describe::Zero::kParameters;
  }
  std::erase_if(grid.layouts, [&job = grid.job](const describe::Layout& layout) {
    job.layout = layout;
    return !describe::check_rules(job).empty();
  });
  return grid;
}

void traffic_totals(benchmark::State& state, const char* model, Framework framework) {
  const LayoutGrid grid = framework_grid(model, framework);
  const std::vector<Candidate> candidates = candidates_of(grid);
  state.counters["layouts"] = static_cast<double>(candidates.size());
  const Instructions instructions(state);
  std::size_t next = 0;
  for (auto _ : state) {
    const Candidate& at = candidates[next];
    next = (next + 1) % candidates.size();
    benchmark::DoNotOptimize(workload::traffic_totals(grid.job, at.layout, at.shard, at.stages));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(traffic_totals, llama_70b, "llama-3.1-70b", Framework::kMegatronCore);
BENCHMARK_CAPTURE(traffic_totals, deepseek_v3, "deepseek-v3", Framework::kMegatronCore);
BENCHMARK_CAPTURE(traffic_totals, llama_70b_fsdp2, "llama-3.1-70b", Framework::kTorchtitan);

// One stage, as a cost model asks for it.
void stage_traffic(benchmark::State& state, const char* model) {
  const LayoutGrid grid = layout_grid(model);
  const std::vector<Candidate> candidates = candidates_of(grid);
  std::size_t next = 0;
  for (auto _ : state) {
    const Candidate& at = candidates[next];
    next = (next + 1) % candidates.size();
    benchmark::DoNotOptimize(
        workload::stage_traffic(grid.job, at.layout, at.shard, at.stages.front()));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(stage_traffic, llama_70b, "llama-3.1-70b");
BENCHMARK_CAPTURE(stage_traffic, deepseek_v3, "deepseek-v3");

// Rows of a matrix of 16,384 ranks.
void matrix_rows(benchmark::State& state) {
  describe::Job job = grid_job("deepseek-v3");
  job.cluster.devices = 16384;
  job.cluster.system.devices_per_node.value = 8;
  job.cluster.system.domain_size.value = 8;
  job.layout.pp = 16;
  job.layout.ep = 64;
  job.layout.split = describe::plausible_split(job.model.layer_count(), 16);
  job.global_batch = 16384;
  const workload::CommunicationMatrix matrix(job);
  std::vector<workload::MatrixEntry> row;
  std::int64_t rank = 0;
  for (auto _ : state) {
    matrix.row(rank, row);
    benchmark::DoNotOptimize(row.data());
    rank = (rank + 1) % matrix.ranks();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(matrix_rows);

}  // namespace
}  // namespace sextant::bench
