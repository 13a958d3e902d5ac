#include <span>
#include <vector>

#include "instructions.h"
#include "layout_grid.h"
#include "workload/operators.h"

namespace sextant::bench {
namespace {

struct Grid {
  describe::Job job;
  std::vector<Candidate> candidates;
};

Grid candidate_grid(const char* model) {
  const LayoutGrid grid = layout_grid(model);
  return {grid.job, candidates_of(grid)};
}

void run_list(benchmark::State& state, const char* model) {
  const Grid grid = candidate_grid(model);
  std::size_t at = 0;
  const Instructions instructions(state);
  for (auto _ : state) {
    const Candidate& candidate = grid.candidates[at++ % grid.candidates.size()];
    benchmark::DoNotOptimize(workload::stage_operators(grid.job, candidate.layout,
                                                       candidate.stages.back(), candidate.shard));
  }
}

// Every kind of layer once, then the first and the last stage.
void run_totals(benchmark::State& state, const char* model) {
  const Grid grid = candidate_grid(model);
  state.counters["layouts"] = static_cast<double>(grid.candidates.size());
  workload::LayoutWork work;
  std::size_t at = 0;
  const Instructions instructions(state);
  for (auto _ : state) {
    const Candidate& candidate = grid.candidates[at++ % grid.candidates.size()];
    work.assign(grid.job, candidate.layout, candidate.shard);
    benchmark::DoNotOptimize(work.stage(grid.job, candidate.layout, candidate.stages.front()));
    benchmark::DoNotOptimize(work.stage(grid.job, candidate.layout, candidate.stages.back()));
  }
}

void run_update(benchmark::State& state, const char* model) {
  const Grid grid = candidate_grid(model);
  std::size_t at = 0;
  const Instructions instructions(state);
  for (auto _ : state) {
    const Candidate& candidate = grid.candidates[at++ % grid.candidates.size()];
    benchmark::DoNotOptimize(workload::update_totals(
        grid.job, candidate.layout, std::span(&candidate.stages.back(), 1), candidate.shard));
  }
}

BENCHMARK_CAPTURE(run_list, llama_70b, "llama-3.1-70b");
BENCHMARK_CAPTURE(run_list, deepseek_v3, "deepseek-v3");
BENCHMARK_CAPTURE(run_totals, llama_70b, "llama-3.1-70b");
BENCHMARK_CAPTURE(run_totals, deepseek_v3, "deepseek-v3");
BENCHMARK_CAPTURE(run_update, llama_70b, "llama-3.1-70b");
BENCHMARK_CAPTURE(run_update, deepseek_v3, "deepseek-v3");

}  // namespace
}  // namespace sextant::bench
