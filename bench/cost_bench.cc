#include "cost/memory/memory.h"
#include "instructions.h"
#include "layout_grid.h"

namespace sextant::bench {
namespace {

void peak_memory(benchmark::State& state, const char* model) {
  const LayoutGrid grid = layout_grid(model);
  cost::MemoryModel memory(
      grid.job, *describe::memory_facts(describe::DataStore(), describe::Framework::kMegatronCore));
  state.counters["layouts"] = static_cast<double>(grid.layouts.size());
  std::size_t at = 0;
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(memory.fullest(grid.layouts[at++ % grid.layouts.size()]));
  }
}
BENCHMARK_CAPTURE(peak_memory, llama_70b, "llama-3.1-70b");
BENCHMARK_CAPTURE(peak_memory, deepseek_v3, "deepseek-v3");

}  // namespace
}  // namespace sextant::bench
